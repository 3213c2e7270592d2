// Extend and release for those who know only a token: one round of the client's, then the clean-up behind it.
#include <algorithm>
#include <optional>
#include <utility>

#include "admin/one_shot.h"
#include "redlock/admin.h"

namespace redlock::admin {
namespace {

// `denied` where the nodes that want a login or a permission would have made the quorum.
Error unanswered(std::vector<NodeReport> nodes) {
  const auto denied = std::count_if(nodes.begin(), nodes.end(), [](const NodeReport& node) {
    return node.cause == Cause::authentication || node.cause == Cause::permission;
  });
  const auto answered = std::count_if(nodes.begin(), nodes.end(), [](const NodeReport& node) {
    return node.vote == Vote::granted || node.cause == Cause::held || node.cause == Cause::missing;
  });
  const auto quorum = static_cast<std::ptrdiff_t>(nodes.size() / 2 + 1);
  Error error;
  error.code = denied > 0 && answered + denied >= quorum ? ErrorCode::denied : ErrorCode::no_quorum;
  error.detail = "fewer than " + std::to_string(quorum) + " nodes answered";
  error.nodes = std::move(nodes);
  return error;
}

}  // namespace

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
