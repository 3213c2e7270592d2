// See program.h. Output goes to a file and not to a pipe, so that nobody has to read while the test does
// something else, and a program that is killed has said what it said.
#include "integration/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "integration/five_masters.h"

namespace redlock::test {
namespace {

// Between fork and exec nothing may allocate: everything is made before.
[[noreturn]] void become(char* const* words, char* const* environment, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDONLY);
  if (getppid() == parent && dup2(nothing, 0) == 0 && dup2(output, 1) == 1 && dup2(output, 2) == 2)
    execve(words[0], words, environment);
  _exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

Program::Program(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  std::string path = std::filesystem::temp_directory_path() / "redlock-program-XXXXXX";
  const int output = mkostemp(path.data(), O_CLOEXEC | O_APPEND);
  if (output < 0) throw std::runtime_error("no file for a program's output");
  path_ = path;
  auto arguments = words;
  auto variables = environment;
  for (char** inherited = environ; *inherited != nullptr; ++inherited) variables.emplace_back(*inherited);
  const auto argv = pointers(arguments);
  const auto envp = pointers(variables);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(argv.data(), envp.data(), output, parent);
  close(output);
  if (pid_ < 0) throw std::runtime_error("fork failed");
}

Program::~Program() {
  if (!ended()) {
    signal(SIGKILL);
    wait();
  }
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void Program::signal(int number) const {
  if (!ended_) ::kill(pid_, number);
}

std::optional<int> Program::ended() {
  int status = 0;
  if (!ended_ && waitpid(pid_, &status, WNOHANG) == pid_)
    ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended_;
}

int Program::wait() {
  eventually([this] { return ended().has_value(); }, 60s);
  return ended_.value_or(-1);
}

std::vector<std::string> Program::lines() const {
  std::istringstream text(output());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line) && !text.eof();) lines.push_back(line);
  return lines;
}

std::string Program::output() const {
  std::ifstream file(path_);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace redlock::test
