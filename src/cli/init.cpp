// `redlock init`: says what a force asserts and asks, then shows what became of each node.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/grid.h"
#include "cli/guard_json.h"
#include "cli/secrets.h"
#include "cli/table.h"
#include "redlock/duration.h"
#include "redlock/guard_admin.h"
#include "redlock/name.h"

namespace redlock::cli {

namespace {

using admin::InitOutcome;

std::string assertion(const ClientOptions& client, const admin::InitOptions& options) {
  std::string where = "any of the nodes";
  if (!options.force) {
    where.clear();
    for (const std::string& node : options.force_nodes)
      (where += where.empty() ? "" : ", ") += printable(mask_passwords(node));
  }
  return fmt::format(
      "You assert that for the last {} (max_ttl) nobody was given a lock on {}.\n"
      "If somebody was, two can hold that lock. Mark ready at once? [y/N] ",
      format_duration(client.max_ttl), where);
}

bool confirmed(std::string_view question) {
  Output::prompt(question);
  std::string line;
  std::getline(std::cin, line);
  return line == "y" || line == "Y" || line == "yes";
}

std::string table(const admin::Init& init, bool colored) {
  std::vector<std::vector<Cell>> rows;
  std::vector<std::pair<std::string, std::string>> said;
  for (const admin::NodeInit& node : init.nodes) {
    said.emplace_back(node.node, node.text);
    const bool bad = node.outcome == InitOutcome::refused || node.outcome == InitOutcome::failed;
    const std::string became = node.outcome != InitOutcome::marked ? std::string(to_string(node.outcome))
                               : node.settling.count() > 0
                                   ? fmt::format("settles for {}", time_text(node.settling))
                                   : "ready";
    rows.push_back({{node.node},
                    {std::string(to_string(node.found))},
                    {became, bad                                      ? Paint::red
                             : node.outcome == InitOutcome::untouched ? Paint::none
                                                                      : Paint::green}});
  }
  return grid({{"NODE"}, {"WAS"}, {"NOW"}}, std::move(rows), 0, colored) +
         grouped(said, terminal_width(STDOUT_FILENO));
}

bool is_permission(Cause cause) {
  return cause == Cause::authentication || cause == Cause::permission;
}

Failure failure_of(const admin::Init& init) {
  const auto any = [&](auto&& fits) { return std::any_of(init.nodes.begin(), init.nodes.end(), fits); };
  if (any([](const admin::NodeInit& node) { return is_permission(node.cause); }))
    return {number(Exit::denied), std::string(to_string(ErrorCode::denied)), "", {}};
  if (any([](const admin::NodeInit& node) { return node.cause != Cause::none; }))
    return {number(Exit::no_quorum), std::string(to_string(ErrorCode::no_quorum)), "", {}};
  return {number(Exit::fault), "refused", "", {}};
}

}  // namespace

int init(const ClientOptions& client, const InitArguments& arguments, Output& output) {
  const bool forced = arguments.options.force || !arguments.options.force_nodes.empty();
  if (forced && !arguments.yes && !confirmed(assertion(client, arguments.options)))
    return output.fail({number(Exit::fault),
                        std::string(to_string(ErrorCode::cancelled)),
                        "nothing was written; answer y to mark them",
                        {}});
  const auto init = admin::init(client, arguments.options);
  if (!init) return output.fail(failure(init.error()));
  if (output.json) {
    if (!output.print(init_json(*init))) return number(Exit::internal);
  } else if (!output.quiet || !init->done) {
    if (!output.print(table(*init, output.colored(STDOUT_FILENO)))) return number(Exit::internal);
  }
  for (const std::string& note : init->notes) output.note(note);
  if (init->done) return number(Exit::ok);
  Failure failure = failure_of(*init);
  failure.message = init->written
                        ? "init: only some of the nodes were marked; the table says what to do for the others"
                    : std::any_of(init->nodes.begin(), init->nodes.end(),
                                  [](const auto& node) { return node.outcome == InitOutcome::failed; })
                        ? "init: no node was marked; the table says why"
                        : "init: nothing was written; the table says which nodes refuse";
  if (output.json) output.leave_stdout();  // the result is there already
  return output.fail(failure);
}

}  // namespace redlock::cli
