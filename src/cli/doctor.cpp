// `redlock doctor`: the findings, the worst first, each with what it means and what to do. They are
// sentences, so only the heads are a table; the text is wrapped below them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/grid.h"
#include "cli/guard_json.h"
#include "redlock/guard_admin.h"

namespace redlock::cli {

namespace {

using admin::Finding;
using admin::Severity;

Paint paint(Severity severity) {
  return severity == Severity::error     ? Paint::red
         : severity == Severity::warning ? Paint::yellow
                                         : Paint::dim;
}

std::string names(const Finding& finding, std::size_t all) {
  if (finding.nodes.empty()) return "-";
  if (finding.nodes.size() == all && all > 1) return "all nodes";
  std::string text;
  for (const std::string& node : finding.nodes) (text += text.empty() ? "" : ", ") += node;
  return text;
}

std::size_t count(const std::vector<Finding>& findings, Severity severity) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [severity](const Finding& each) { return each.severity == severity; }));
}

std::string counted(std::size_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string table(const std::vector<Finding>& findings, std::size_t nodes, std::size_t width, bool colored) {
  if (findings.empty()) return fmt::format("  nothing found on {}\n", counted(nodes, "node"));
  std::size_t widest = std::string_view("FINDING").size();
  for (const Finding& finding : findings) widest = std::max(widest, finding.id.size());
  constexpr std::size_t kSeverity = 8, kText = 2 + kSeverity + 1;
  const auto room = [width](std::size_t taken) {
    return width > taken + 20 ? width - taken : width == 0 ? SIZE_MAX : std::size_t{20};
  };
  std::string text = fmt::format("  {:<{}} {:<{}}  {}\n", "SEVERITY", kSeverity, "FINDING", widest, "NODES");
  for (const Finding& finding : findings) {
    const std::string severity(to_string(finding.severity));
    text += fmt::format("  {}{} {:<{}}  ", painted(severity, paint(finding.severity), colored),
                        std::string(kSeverity - severity.size(), ' '), finding.id, widest);
    const std::size_t indent = kText + widest + 2;
    const auto lines = wrapped(names(finding, nodes), room(indent));
    for (std::size_t i = 0; i < lines.size(); ++i)
      text += (i == 0 ? "" : std::string(indent, ' ')) + lines[i] + "\n";
    for (const std::string& line : wrapped(finding.what, room(kText)))
      text += std::string(kText, ' ') + line + "\n";
    if (finding.remedy.empty()) continue;
    bool first = true;
    for (const std::string& line : wrapped(finding.remedy, room(kText + 3))) {
      text += std::string(kText, ' ') + (first ? "-> " : "   ") + line + "\n";
      first = false;
    }
  }
  return text + fmt::format("  {}, {}, {}\n", counted(count(findings, Severity::error), "error"),
                            counted(count(findings, Severity::warning), "warning"),
                            counted(count(findings, Severity::note), "note"));
}

}  // namespace

int doctor(const ClientOptions& client, const DoctorArguments& arguments, Output& output) {
  const auto findings = admin::doctor(client, arguments.options);
  if (!findings) return output.fail(failure(findings.error()));
  const std::string text = output.json ? doctor_json(*findings)
                                       : table(*findings, client.nodes.size(), terminal_width(STDOUT_FILENO),
                                               output.colored(STDOUT_FILENO));
  if (!output.print(text)) return number(Exit::internal);
  if (count(*findings, Severity::error) > 0) return number(Exit::errors);
  return number(count(*findings, Severity::warning) > 0 ? Exit::warnings : Exit::ok);
}

}  // namespace redlock::cli
