// The commands for scripts that keep the token themselves: acquire, extend, release.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/waiting.h"
#include "redlock/admin.h"
#include "redlock/lock_manager.h"

namespace redlock::cli {

int acquire(const ClientOptions& client, const AcquireArguments& arguments, Signals& signals,
            Output& output) {
  auto manager = LockManager::create(client);
  if (!manager) return output.fail(failure(manager.error()));
  Waited waited = wait_for_lock(*manager, arguments, signals, output);
  const std::string& name = arguments.name.str();
  if (waited.signal != 0) return output.fail(interrupted(waited.signal, name));
  auto& lease = *waited.result;
  if (!lease) return output.fail(failure(lease.error(), name));
  const std::string token = lease->token().to_string();
  const auto fence = lease->fencing_token();
  const std::string text = output.json ? lease_json(name, token, lease->valid_for(), lease->nodes(), fence)
                           : fence     ? fmt::format("{} {}\n", token, *fence)
                                       : token + "\n";
  // Whoever did not get the token could never give the lock back.
  if (!output.print(text)) {
    lease->release();
    return number(Exit::internal);
  }
  lease->detach();
  return number(Exit::ok);
}

int extend(const ClientOptions& client, const ExtendArguments& arguments, Output& output) {
  const auto extension = admin::extend(client, arguments.name, arguments.token, arguments.ttl);
  if (!extension) return output.fail(failure(extension.error(), arguments.name.str()));
  const std::string text = output.json ? lease_json(arguments.name.str(), arguments.token.to_string(),
                                                    extension->validity, extension->nodes)
                                       : std::string();
  return number(output.print(text) ? Exit::ok : Exit::internal);
}

int release(const ClientOptions& client, const ReleaseArguments& arguments, Output& output) {
  const auto release = admin::release(client, arguments.name, arguments.token);
  if (!release) return output.fail(failure(release.error(), arguments.name.str()));
  const std::string& name = arguments.name.str();
  if (release->result == Released::unknown)
    return output.fail(
        {number(Exit::no_quorum), std::string(to_string(ErrorCode::no_quorum)),
         fmt::format("'{}' could not be released on a majority of the nodes; it expires by itself", name),
         release->nodes});
  if (output.json &&
      !output.print(release_json(name, arguments.token.to_string(), release->result, release->nodes)))
    return number(Exit::internal);
  if (release->result == Released::released) return number(Exit::ok);
  output.note(fmt::format("'{}' was not held by this token any more", name));
  return number(Exit::already_gone);
}

}  // namespace redlock::cli
