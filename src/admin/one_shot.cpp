#include "admin/one_shot.h"

#include <ctime>
#include <utility>

namespace redlock::admin {
namespace {

sigset_t only_sigpipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

bool sigpipe_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

NoSigpipe::NoSigpipe() : was_pending_(sigpipe_pending()) {
  const sigset_t set = only_sigpipe();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

NoSigpipe::~NoSigpipe() {
  if (!was_pending_ && sigpipe_pending()) {
    const sigset_t set = only_sigpipe();
    const timespec at_once{};
    sigtimedwait(&set, nullptr, &at_once);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

expected<OneShot, Error> OneShot::open(const ClientOptions& options) {
  OneShot shot;
  auto engine = uv::Engine::create(options);
  if (!engine) return unexpected<Error>(std::move(engine.error()));
  shot.engine_ = std::move(*engine);
  shot.engine_->start();
  return shot;
}

void OneShot::settle(core::Millis limit) {
  engine_->client().close();
  engine_->run_until([this] { return engine_->client().quiet(); }, limit);
}

}  // namespace redlock::admin
