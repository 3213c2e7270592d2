// `redlock inspect`: shows what is there, and turns it into an exit code: a fault is certain and comes first,
// then what kept us from seeing everything.
#include <algorithm>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/table.h"

#include <unistd.h>

namespace redlock::cli {

namespace {

bool not_permitted(const admin::NodeKey& key) {
  return key.cause == Cause::authentication || key.cause == Cause::permission;
}

Exit verdict(const std::vector<admin::Inspection>& inspections) {
  const auto any = [&](auto&& fits) { return std::any_of(inspections.begin(), inspections.end(), fits); };
  if (any([](const admin::Inspection& lock) { return !lock.faults.empty(); })) return Exit::fault;
  if (!any([](const admin::Inspection& lock) { return lock.verdict == admin::Verdict::uncertain; }))
    return Exit::ok;
  const bool denied = any([](const admin::Inspection& lock) {
    return lock.verdict == admin::Verdict::uncertain &&
           std::any_of(lock.nodes.begin(), lock.nodes.end(), not_permitted);
  });
  return denied ? Exit::denied : Exit::no_quorum;
}

}  // namespace

int inspect(const ClientOptions& client, const InspectArguments& arguments, Output& output) {
  const auto inspections = admin::inspect(client, arguments.names);
  if (!inspections) return output.fail(failure(inspections.error()));
  const std::string text = output.json ? inspection_json(*inspections)
                                       : inspection_table(*inspections, output.colored(STDOUT_FILENO));
  return number(output.print(text) ? verdict(*inspections) : Exit::internal);
}

}  // namespace redlock::cli
