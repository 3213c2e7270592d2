// Opening and the farewell of one administration call.
#include "admin/one_shot.h"

#include <utility>

namespace redlock::admin {
expected<OneShot, Error> OneShot::open(const ClientOptions& options) {
  auto engine = uv::Engine::create(options);
  if (!engine) return unexpected<Error>(std::move(engine.error()));
  (*engine)->start();
  return OneShot(std::move(*engine));
}

void OneShot::settle(core::Millis limit) {
  engine_->client().close();
  engine_->run_until([this] { return engine_->client().quiet(); }, limit);
}

}  // namespace redlock::admin
