// The life of the loop thread: started with every signal blocked, since the program's handlers are none of
// its business, ended by a command.
#include "blocking/manager_core.h"

#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <system_error>
#include <utility>

#include "blocking/lease_state.h"
#include "blocking/loop_side.h"
#include "uv/engine.h"
#include "uv/process_id.h"

namespace redlock::detail {
namespace {

Error cannot_start(const char* what, const char* why) {
  return Error{ErrorCode::overloaded, std::string(what) + ": " + why, {}, {}};
}

// A new thread inherits the mask of its creator; blocking inside it would leave a gap.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

ManagerCore::ManagerCore(ClientOptions options) : options_(std::move(options)), home_(uv::process_id()) {
  shut_down_.kind = Command::Kind::shut_down;
}

expected<std::shared_ptr<ManagerCore>, Error> ManagerCore::start(ClientOptions options) {
  auto engine = uv::Engine::create(options);
  if (!engine) return unexpected<Error>(std::move(engine.error()));
  auto core = std::make_shared<ManagerCore>(std::move(options));
  if (const int status = core->mailbox_.open(); status != 0)
    return unexpected<Error>(cannot_start("no descriptor for the mailbox", std::strerror(status)));
  auto side = std::make_unique<LoopSide>(std::move(*engine), core->mailbox_, core->options_);
  if (const int status = side->listen(); status != 0)
    return unexpected<Error>(cannot_start("the mailbox cannot be watched", uv_strerror(status)));
  try {
    const SignalsBlocked blocked;
    // The thread keeps the core: after a manager was destroyed on its own loop, nobody else may.
    core->thread_ = std::thread([core, side = std::move(side)]() mutable noexcept {
      pthread_setname_np(pthread_self(), "redlock");
      side->run();
      side.reset();
    });
  } catch (const std::system_error& error) {
    return unexpected<Error>(cannot_start("no thread for the loop", error.what()));
  }
  core->loop_thread_id_ = core->thread_.get_id();
  return core;
}

bool ManagerCore::at_home() const {
  return uv::process_id() == home_;
}

std::optional<Error> ManagerCore::ask(Call& call, const std::stop_token& stop) {
  if (!at_home()) return closed_error();
  if (on_loop_thread())
    return Error{ErrorCode::wrong_thread,
                 "a blocking call on the manager's own loop thread would wait for itself",
                 {},
                 {}};
  if (!mailbox_.push(call.command)) return closed_error();
  if (!stop.stop_possible()) {
    call.wait();
    return std::nullopt;
  }
  // Posted behind the acquire, so that it always finds it or comes too late. The lease keeps the command,
  // since this call may have returned when the loop gets to it.
  const std::stop_callback on_stop(stop, [this, lease = call.command.lease] {
    lease->cancel.lease = lease;
    if (!mailbox_.push(lease->cancel)) lease->cancel.lease.reset();
  });
  call.wait();
  return std::nullopt;
}

void ManagerCore::shut_down() {
  if (!at_home()) return;
  mailbox_.push(shut_down_);
  if (on_loop_thread()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

}  // namespace redlock::detail
