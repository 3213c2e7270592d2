// fork and exec by hand rather than posix_spawn, which can not wait for a word to go. Everything that
// allocates is done before fork: the process has threads, and the copy may only make system calls.
#include "cli/child.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <cerrno>

#include "cli/exit_code.h"

namespace redlock::cli {

namespace {

struct Pipe {
  Descriptor read;
  Descriptor write;
};

expected<Pipe, int> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return unexpected<int>(errno);
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& string : strings) result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

[[noreturn]] void become(char* const* argv, char* const* envp, Pipe& go, Pipe& status,
                         const Signals& signals) {
  ::setpgid(0, 0);
  go.write.close();  // or we would never see that the other end was closed
  char byte = 0;
  ssize_t got = 0;
  do got = ::read(go.read.number(), &byte, 1);
  while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(0);
  signals.restore();
  ::execvpe(argv[0], argv, envp);
  const int error = errno;
  if (::write(status.write.number(), &error, sizeof error) < 0) ::_exit(number(Exit::internal));
  ::_exit(kNotFound);
}

}  // namespace

expected<Child, int> Child::prepare(const std::vector<std::string>& command,
                                    const std::vector<std::string>& environment, const Signals& signals) {
  auto go = make_pipe();
  auto status = make_pipe();
  if (!go) return unexpected<int>(go.error());
  if (!status) return unexpected<int>(status.error());
  const auto argv = pointers(command);
  const auto envp = pointers(environment);
  const pid_t pid = ::fork();
  if (pid < 0) return unexpected<int>(errno);
  if (pid == 0) become(argv.data(), envp.data(), *go, *status, signals);
  ::setpgid(pid, pid);  // both do it, so that it is true for both from here on
  return Child(pid, std::move(go->write), std::move(status->read));
}

Child::Child(pid_t pid, Descriptor go, Descriptor status)
    : pid_(pid), go_(std::move(go)), status_(std::move(status)) {}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      go_(std::move(other.go_)),
      status_(std::move(other.status_)),
      ended_(std::exchange(other.ended_, true)) {}

Child::~Child() {
  if (ended_ || !go_.valid()) return;
  go_.close();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Child::start() {
  const char byte = 1;
  // It fails only if the child was killed meanwhile, which change() reports.
  [[maybe_unused]] const ssize_t written = ::write(go_.number(), &byte, 1);
  go_.close();
}

std::optional<Child::Change> Child::change() {
  int status = 0;
  if (ended_ || ::waitpid(pid_, &status, WNOHANG | WUNTRACED) != pid_) return std::nullopt;
  Change change;
  if (WIFSTOPPED(status)) {
    change.stopped = true;
    change.signal = WSTOPSIG(status);
    return change;
  }
  ended_ = true;
  if (WIFSIGNALED(status)) change.signal = WTERMSIG(status);
  change.exit_code = WIFSIGNALED(status) ? kSignalBase + change.signal : WEXITSTATUS(status);
  int error = 0;
  if (::read(status_.number(), &error, sizeof error) == static_cast<ssize_t>(sizeof error)) {
    change.exec_error = error;
    change.exit_code = error == ENOENT ? kNotFound : number(Exit::not_executable);
  }
  return change;
}

void Child::signal(int number) const {
  ::kill(-pid_, number);
}

bool Child::group_gone() const {
  return ::kill(-pid_, 0) != 0 && errno == ESRCH;
}

}  // namespace redlock::cli
