// Opening and the farewell of one administration call.
#include "admin/one_shot.h"

#include <algorithm>
#include <utility>

namespace redlock::admin {
namespace {

constexpr core::Millis kFarewell{200};
// Of a call that is made once there is no second attempt, so it waits longer for a slow node than a client
// that would try again; while the others answer, it costs nothing.
constexpr core::Millis kPatience{500};

}  // namespace

ClientOptions without_guard(const ClientOptions& options) {
  ClientOptions plain = options;
  plain.guard.enabled = false;
  return plain;
}

expected<OneShot, Error> OneShot::open(const ClientOptions& options) {
  ClientOptions patient = options;
  patient.min_node_timeout = std::max(options.min_node_timeout, kPatience);
  auto engine = uv::Engine::create(patient);
  if (!engine) return unexpected<Error>(std::move(engine.error()));
  (*engine)->start();
  return OneShot(std::move(*engine));
}

void OneShot::settle() {
  engine_->client().close();
  engine_->run_until([this] { return engine_->client().quiet() && engine_->host().idle(); }, kFarewell);
}

}  // namespace redlock::admin
