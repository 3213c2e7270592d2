// The record through every checker.
#include "verdict.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "verify/registers.h"
#include "verify/validity.h"

namespace redlock::chaos {
namespace {

using verify::Ending;
using verify::History;

constexpr Us kWorthTelling{1000000};  // of a stall

// The earliest of what ends a claim before its validity does.
struct Ended {
  Us at = Us::max();
  Ending how = Ending::open;
};
Ended ended(const Record& record, const Section& section) {
  Ended end;
  const auto also = [&](const std::optional<Us>& at, Ending how) {
    if (at && *at < end.at) end = {*at, how};
  };
  also(section.released, Ending::released);
  also(section.lost, Ending::lost);
  also(record.processes[section.process].died, Ending::died);
  return end;
}

// Each hold's token is the place of its section. So far: a hold whose end nobody has written yet may have
// ended, and is left out.
History history_of(const Record& record, bool so_far) {
  History history;
  for (std::size_t i = 0; i < record.sections.size(); ++i) {
    const auto& section = record.sections[i];
    if (!section.granted) continue;
    const auto end = ended(record, section);
    if (so_far && end.how == Ending::open) continue;
    const std::string place = std::to_string(i);
    history.granted(*section.granted, section.who + ":" + std::to_string(section.id), section.name, place,
                    section.until);
    if (section.fence != 0) history.fenced(place, section.fence);
    if (end.how != Ending::open) history.ended(end.at, place, end.how);
  }
  return history;
}

const Section* section_of(const Record& record, const verify::Hold& hold) {
  std::size_t place = 0;
  std::from_chars(hold.token.data(), hold.token.data() + hold.token.size(), place);
  return &record.sections.at(place);
}

const Fault* last_fault_before(const Record& record, Us at) {
  const Fault* last = nullptr;
  for (const auto& fault : record.faults)
    if (fault.began <= at && (last == nullptr || fault.began >= last->began)) last = &fault;
  return last;
}

StaleWrites stale_writes(const Record& record) {
  StaleWrites found;
  for (const auto& writing : record.writings) {
    if (!writing.accepted) {
      ++found.fenced_refused;
      continue;
    }
    const Section& by = record.sections[writing.section];
    const Section* over = writing.seen.empty() ? nullptr : record.find(writing.seen);
    if (!by.granted || over == nullptr || !over->granted) continue;
    verify::Write write;
    write.by = {*by.granted, by.fence};
    write.over = verify::Writer{*over->granted, over->fence};
    write.over_came_between = writing.read && *writing.read != writing.seen;
    if (verify::tells_of_a_stale_write(write)) ++(writing.fenced ? found.fenced_accepted : found.plain);
  }
  return found;
}

// When the lock of this section cannot be had by others, for a reason that the history shows.
Spans taken_by(const Record& record, const Section& section) {
  const Process& process = record.processes[section.process];
  const Us key_life = section.ttl + verify::drift(section.ttl);
  Spans taken;
  const auto asked = section.waited.value_or(section.granted.value_or(Us{0}));
  const auto answered = section.granted ? section.granted : section.failed;
  // An attempt that was cut short may have set keys.
  const auto cut_short = [&](Us at) {
    if (asked <= at && (!answered || *answered > at)) taken.push_back({at, at + key_life});
  };
  if (process.died) cut_short(*process.died);
  for (const auto& stop : process.stopped) cut_short(stop.from);
  if (section.granted) {
    const Us keys_end = section.until + verify::drift(section.ttl);
    taken.push_back({*section.granted, section.clean && section.let_go ? *section.let_go : keys_end});
  }
  return taken;
}

std::vector<verify::Stall> all_stalls(const Record& record) {
  std::map<std::string, verify::Demand> demands;
  for (const auto& section : record.sections) {
    const Process& process = record.processes[section.process];
    auto& demand = demands[section.name];
    demand.name = section.name;
    if (section.waited) {
      const auto answered = section.granted ? section.granted : section.failed;
      const Us until = answered.value_or(process.died.value_or(process.last));
      // Who is stopped cannot take it.
      const Spans waiting = verify::without({{*section.waited, until}}, process.stopped);
      demand.wanted.insert(demand.wanted.end(), waiting.begin(), waiting.end());
    }
    const Spans taken = taken_by(record, section);
    demand.taken.insert(demand.taken.end(), taken.begin(), taken.end());
    if (section.granted) demand.grants.push_back(*section.granted);
  }
  const Spans ready = record.quorum_ready();
  std::vector<verify::Stall> all;
  for (const auto& [name, demand] : demands) {
    const auto found = verify::stalls(demand, ready, Us{1});
    all.insert(all.end(), found.begin(), found.end());
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const verify::Stall& a, const verify::Stall& b) { return a.length() > b.length(); });
  return all;
}

bool as_expected(const Verdict& verdict, const Record& record) {
  // Nothing happened, or the harness failed: nothing is shown.
  if (verdict.grants == 0 || !verdict.problems.empty()) return false;
  switch (verdict.expect) {
    case Expect::clean:
      return verdict.broken_rules() == 0 && record.leftovers.empty();
    case Expect::overlaps:
      return !verdict.overlaps.empty();
    case Expect::broken:
      return verdict.broken_rules() != 0;
    case Expect::shown:
      return true;
  }
  return false;
}

}  // namespace

std::optional<Expect> expect_from(const std::string& word) {
  for (const auto expect : {Expect::clean, Expect::overlaps, Expect::broken, Expect::shown})
    if (to_string(expect) == word) return expect;
  return std::nullopt;
}

std::string to_string(Expect expect) {
  switch (expect) {
    case Expect::clean:
      return "clean";
    case Expect::overlaps:
      return "overlaps";
    case Expect::broken:
      return "broken";
    case Expect::shown:
      return "shown";
  }
  return "?";
}

Verdict judge(const Record& record, Expect expect, bool so_far) {
  Verdict verdict;
  verdict.expect = expect;
  verdict.sections = record.sections.size();
  const History history = history_of(record, so_far);
  verdict.grants = history.holds().size();
  for (auto& overlap : verify::overlaps(history)) {
    FoundOverlap found{std::move(overlap), nullptr, nullptr, nullptr};
    found.first = section_of(record, found.overlap.first);
    found.second = section_of(record, found.overlap.second);
    found.fault = last_fault_before(record, found.overlap.from());
    verdict.overlaps.push_back(std::move(found));
  }
  for (auto& disorder : verify::disorders(history)) {
    FoundInversion found{std::move(disorder), nullptr, nullptr};
    found.first = section_of(record, found.disorder.first);
    found.second = section_of(record, found.disorder.second);
    verdict.inversions.push_back(std::move(found));
  }
  verdict.stale_writes = stale_writes(record);
  for (const auto& section : record.sections)
    if (section.promised_too_much) verdict.promised_too_much.push_back(&section);
  verdict.stalls = all_stalls(record);
  if (!verdict.stalls.empty()) verdict.longest_stall = verdict.stalls.front().length();
  std::erase_if(verdict.stalls, [](const verify::Stall& stall) { return stall.length() < kWorthTelling; });
  verdict.phases = phases(record);
  verdict.free_locks = free_locks(record);
  verdict.problems = record.problems;
  if (expect == Expect::clean && !record.looked_for_leftovers)
    verdict.problems.emplace_back("nobody looked for keys that were left; an event `keys` is needed");
  if (verdict.grants == 0) verdict.problems.emplace_back("no lock was ever granted");
  verdict.as_expected = as_expected(verdict, record);
  return verdict;
}

}  // namespace redlock::chaos
