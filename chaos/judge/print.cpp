// Keys in the order in which one reads them.
#include "print.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace redlock::chaos {
namespace {

using json = nlohmann::ordered_json;

json section_json(const Section& section, const verify::Hold& hold) {
  json out{
      {"w", section.who}, {"id", section.id}, {"granted", hold.granted.count()}, {"end", hold.end().count()}};
  if (section.fence != 0) out["fence"] = section.fence;
  return out;
}

json optional_us(const std::optional<Us>& time) {
  return time ? json(time->count()) : json(nullptr);
}

json window_json(const Window& window) {
  return {{"per_s", window.per_second},
          {"wait_p50_us", optional_us(window.wait_p50)},
          {"wait_p99_us", optional_us(window.wait_p99)}};
}

json phases_json(const Verdict& verdict) {
  json out = json::array();
  for (const auto& phase : verdict.phases) {
    out.push_back({{"scenario", phase.scenario},
                   {"fault", phase.fault},
                   {"before", window_json(phase.before)},
                   {"during", window_json(phase.during)},
                   {"after", window_json(phase.after)},
                   {"first_grant_after_heal_us", optional_us(phase.first_grant_after_heal)}});
  }
  return out;
}

json violations_json(const Verdict& verdict, json out) {
  out["overlaps"] = json::array();
  for (const auto& found : verdict.overlaps) {
    out["overlaps"].push_back({{"name", found.first->name},
                               {"from", found.overlap.from().count()},
                               {"to", found.overlap.to().count()},
                               {"first", section_json(*found.first, found.overlap.first)},
                               {"second", section_json(*found.second, found.overlap.second)},
                               {"fault", found.fault != nullptr ? json(found.fault->id) : json(nullptr)}});
  }
  out["inversions"] = json::array();
  for (const auto& found : verdict.inversions) {
    out["inversions"].push_back({{"name", found.first->name},
                                 {"first", section_json(*found.first, found.disorder.first)},
                                 {"second", section_json(*found.second, found.disorder.second)}});
  }
  out["stale_writes"] = {{"plain", verdict.stale_writes.plain},
                         {"fenced_refused", verdict.stale_writes.fenced_refused},
                         {"fenced_accepted", verdict.stale_writes.fenced_accepted}};
  return out;
}

}  // namespace

std::string to_json(const Verdict& verdict, const Record& record) {
  json out;
  out["expect"] = to_string(verdict.expect);
  out["as_expected"] = verdict.as_expected;
  out["sections"] = verdict.sections;
  out["grants"] = verdict.grants;
  out["fails"] = record.fails;
  out["workers"] = record.processes.size();
  out = violations_json(verdict, std::move(out));
  out["leftovers"] = record.leftovers;
  out["validity"] = json::array();
  for (const auto* section : verdict.promised_too_much)
    out["validity"].push_back(
        {{"what", "claimed beyond T0 + ttl - drift"}, {"w", section->who}, {"id", section->id}});
  out["stalls"] = json::array();
  for (const auto& stall : verdict.stalls)
    out["stalls"].push_back({{"name", stall.name}, {"from", stall.from.count()}, {"to", stall.to.count()}});
  out["longest_stall_us"] = verdict.longest_stall.count();
  out["phases"] = phases_json(verdict);
  out["healthy_median_us"] = optional_us(verdict.free_locks.healthy_median);
  out["availability"] = json::array();
  for (const auto& entry : verdict.free_locks.faults) {
    out["availability"].push_back({{"fault", entry.fault},
                                   {"nodes_down", entry.nodes_down},
                                   {"tried", entry.tried},
                                   {"granted_within_3x_median", entry.granted_soon}});
  }
  out["faults"] = json::array();
  for (const auto& fault : record.faults) {
    out["faults"].push_back({{"id", fault.id},
                             {"kind", fault.kind},
                             {"proof", fault.proof},
                             {"ok", fault.healed.has_value() && !fault.proof.empty()}});
  }
  out["problems"] = verdict.problems;
  // What is no text of ours may be no UTF-8.
  return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string to_table(const Verdict& verdict, const Record& record) {
  std::string out;
  const auto row = [&](std::string_view what, auto value) {
    out += fmt::format("{:<24}{:>10}\n", what, value);
  };
  row("sections", verdict.sections);
  row("granted", verdict.grants);
  for (const auto& [error, count] : record.fails) row("  failed: " + error, count);
  row("faults", record.faults.size());
  row("overlaps", verdict.overlaps.size());
  row("fencing inversions", verdict.inversions.size());
  row("validity too long", verdict.promised_too_much.size());
  row("keys left", record.leftovers.size());
  row("stale writes, plain", verdict.stale_writes.plain);
  row("  fenced, refused", verdict.stale_writes.fenced_refused);
  row("  fenced, accepted", verdict.stale_writes.fenced_accepted);
  row("longest stall", fmt::format("{:.3f} s", static_cast<double>(verdict.longest_stall.count()) / 1e6));
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < verdict.overlaps.size() && i < kShown; ++i) {
    const auto& found = verdict.overlaps[i];
    out +=
        fmt::format("{} after {}\n", verify::describe(found.overlap),
                    found.fault != nullptr ? found.fault->id + " (" + found.fault->kind + ")" : "no fault");
  }
  for (std::size_t i = 0; i < verdict.inversions.size() && i < kShown; ++i)
    out += verify::describe(verdict.inversions[i].disorder);
  for (const auto& problem : verdict.problems) out += "problem: " + problem + "\n";
  out += fmt::format("expected: {}; {}\n", to_string(verdict.expect),
                     verdict.as_expected ? "so it is" : "NOT so");
  return out;
}

}  // namespace redlock::chaos
