// Extend and release for those who know only a token: one round of the client's, then the clean-up behind it.
#include <algorithm>
#include <optional>
#include <utility>

#include "admin/one_shot.h"
#include "admin/unanswered.h"
#include "redlock/admin.h"

namespace redlock::admin {

expected<Extension, Error> extend(const ClientOptions& options, const LockName& name, const Token& token,
                                  std::chrono::milliseconds ttl) {
  AcquireOptions call;
  call.ttl = ttl;
  if (auto fault = validate(call, options)) return unexpected<Error>(std::move(*fault));
  auto shot = OneShot::open(options);
  if (!shot) return unexpected<Error>(std::move(shot.error()));
  std::optional<expected<Extension, Error>> result;
  shot->engine().client().extend_by_token(
      name, token, ttl, [&](const expected<core::Instant, Error>& until, std::vector<NodeReport> nodes) {
        if (until) {
          const auto left = core::remaining(*until, shot->engine().host().now());
          result =
              Extension{std::max(std::chrono::floor<core::Millis>(left), core::Millis{0}), std::move(nodes)};
        } else {
          Error error = until.error();
          if (error.nodes.empty()) error.nodes = std::move(nodes);
          result = unexpected<Error>(std::move(error));
        }
      });
  shot->run_until([&] { return result.has_value(); });
  shot->settle();
  return std::move(*result);
}

expected<Release, Error> release(const ClientOptions& options, const LockName& name, const Token& token) {
  auto shot = OneShot::open(without_guard(options));
  if (!shot) return unexpected<Error>(std::move(shot.error()));
  std::optional<Release> result;
  shot->engine().client().release_by_token(name, token, [&](Released what, std::vector<NodeReport> nodes) {
    result = Release{what, std::move(nodes)};
  });
  shot->run_until([&] { return result.has_value(); });
  shot->settle();
  if (result->result == Released::unknown) return unexpected<Error>(unanswered(std::move(result->nodes)));
  return std::move(*result);
}

}  // namespace redlock::admin
