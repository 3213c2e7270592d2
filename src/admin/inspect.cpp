// Who holds a lock: TYPE, GET and PTTL of its key on every node, all names at once.
//
// Each node gets the three commands of a name in one write. They are no transaction: between two of them
// another client may be served, or the key may expire, so that one owner's name could stand beside the next
// owner's time left. For a look that is old when it is printed that is good enough; MULTI would cost two more
// replies, and a script needs a permission that an operator who may only read does not have.
#include <string>
#include <utility>

#include "admin/look.h"
#include "admin/one_shot.h"
#include "admin/verdict.h"
#include "redis/codec.h"
#include "redlock/admin.h"

namespace redlock::admin {
namespace {

std::string commands_for(const std::string& key) {
  std::string resp;
  redis::append_command(resp, {"TYPE", key});
  redis::append_command(resp, {"GET", key});
  redis::append_command(resp, {"PTTL", key});
  return resp;
}

}  // namespace

KeyState state_without_answer(Cause cause) {
  switch (cause) {
    case Cause::timed_out:
    case Cause::connecting:
    case Cause::not_connected:
    case Cause::tls:
    case Cause::disconnected:
    case Cause::backlog:
      return KeyState::unreachable;
    default:
      return KeyState::refused;
  }
}

std::vector<Inspection> look(OneShot& shot, const ClientOptions& options,
                             const std::vector<LockName>& names) {
  const auto& labels = shot.engine().labels();
  std::vector<Inspection> inspections(names.size());
  std::size_t missing = names.size() * labels.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Inspection& inspection = inspections[i];
    inspection.name = names[i].str();
    inspection.nodes.resize(labels.size());
    const std::string resp = commands_for(options.prefix + inspection.name);
    for (std::size_t n = 0; n < labels.size(); ++n) {
      NodeKey& key = inspection.nodes[n];
      key.node = labels[n];
      // An operator's question is worth more patience than a vote, which only has a node timeout.
      shot.engine().host().raw(core::node_at(static_cast<int>(n)), resp, kInspectReplies,
                               options.connect_timeout, [&key, &missing](const uv::RawAnswer& answer) {
                                 --missing;
                                 key.elapsed = answer.elapsed;
                                 if (answer.cause == Cause::none) return read_key(answer.values, key);
                                 key.state = state_without_answer(answer.cause);
                                 key.cause = answer.cause;
                                 key.text = answer.text;
                               });
    }
  }
  shot.run_until([&missing] { return missing == 0; });
  for (auto& inspection : inspections) judge(inspection);
  return inspections;
}

expected<std::vector<Inspection>, Error> inspect(const ClientOptions& options,
                                                 const std::vector<LockName>& names) {
  auto shot = OneShot::open(without_guard(options));
  if (!shot) return unexpected<Error>(std::move(shot.error()));
  return look(*shot, options, names);
}

}  // namespace redlock::admin
