// Windows of time over the grants in their order.
#include "waits.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "verify/validity.h"

namespace redlock::chaos {
namespace {

constexpr Us kShortest{1000000};
constexpr Us kLongest{5000000};
// The harness looks at the nodes about ten times a second: so long may what it says be behind.
constexpr Us kSeenLate{300000};

std::optional<Us> percentile(std::vector<Us>& values, int percent) {
  if (values.empty()) return std::nullopt;
  const auto at = std::min(values.size() - 1, values.size() * static_cast<std::size_t>(percent) / 100);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

struct Grant {
  Us at{0};
  Us waited{0};
};

class Grants {
 public:
  explicit Grants(const Record& record) {
    for (const auto& section : record.sections)
      if (section.granted && section.waited)
        grants_.push_back({*section.granted, *section.granted - *section.waited});
    std::sort(grants_.begin(), grants_.end(), [](const Grant& a, const Grant& b) { return a.at < b.at; });
  }

  [[nodiscard]] Window in(Span span) const {
    Window window;
    if (span.from >= span.to) return window;
    std::vector<Us> waits;
    for (auto it = since(span.from); it != grants_.end() && it->at < span.to; ++it)
      waits.push_back(it->waited);
    window.per_second =
        static_cast<double>(waits.size()) * 1e6 / static_cast<double>((span.to - span.from).count());
    window.wait_p50 = percentile(waits, 50);
    window.wait_p99 = percentile(waits, 99);
    return window;
  }
  [[nodiscard]] std::optional<Us> first_after(Us at) const {
    const auto it = since(at);
    return it == grants_.end() ? std::nullopt : std::optional(it->at);
  }

 private:
  [[nodiscard]] std::vector<Grant>::const_iterator since(Us at) const {
    return std::lower_bound(grants_.begin(), grants_.end(), at,
                            [](const Grant& g, Us t) { return g.at < t; });
  }
  std::vector<Grant> grants_;
};

// When the fault was over and a quorum could vote again, if that came.
std::optional<Us> well_again(const Fault& fault, const Spans& ready) {
  if (!fault.healed) return std::nullopt;
  for (const auto& span : ready)
    if (span.to > *fault.healed) return std::max(span.from, *fault.healed);
  return std::nullopt;
}

}  // namespace

std::vector<Phase> phases(const Record& record) {
  const Grants grants(record);
  const Spans ready = record.quorum_ready();
  std::vector<Phase> out;
  for (const auto& fault : record.faults) {
    const Us over = well_again(fault, ready).value_or(record.last);
    const Us length = std::clamp(over - fault.began, kShortest, kLongest);
    Us earliest = std::max(fault.began - length, Us{0});
    Us latest = over + length;
    for (const auto& other : record.faults) {
      const Us healed = other.healed.value_or(record.last);
      if (other.began < fault.began && healed <= fault.began) earliest = std::max(earliest, healed);
      if (other.began >= over && &other != &fault) latest = std::min(latest, other.began);
    }
    Phase phase{fault.scenario,
                fault.id,
                grants.in({earliest, fault.began}),
                grants.in({fault.began, over}),
                grants.in({over, std::min(latest, record.last)}),
                std::nullopt};
    if (const auto well = well_again(fault, ready))
      if (const auto first = grants.first_after(*well)) phase.first_grant_after_heal = *first - *well;
    out.push_back(std::move(phase));
  }
  return out;
}

namespace {

// The sections that asked for a lock that nobody else had, asked for, or might have left keys of.
std::vector<const Section*> of_free_locks(const Record& record) {
  std::map<std::string_view, std::vector<const Section*>> by_name;
  for (const auto& section : record.sections)
    if (section.waited) by_name[section.name].push_back(&section);
  std::vector<const Section*> out;
  for (auto& [name, sections] : by_name) {
    std::sort(sections.begin(), sections.end(),
              [](const Section* a, const Section* b) { return *a->waited < *b->waited; });
    Us taken_until{0};
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const Section& section = *sections[i];
      const auto answered = section.granted ? section.granted : section.failed;
      const bool alone = i + 1 == sections.size() || (answered && *sections[i + 1]->waited > *answered);
      if (answered && alone && *section.waited >= taken_until) out.push_back(&section);
      // A lease that was not given back in an orderly way may have keys for as long as they live.
      if (section.granted) {
        const bool gone = section.clean && section.let_go;
        taken_until =
            std::max(taken_until, gone ? *section.let_go : section.until + verify::drift(section.ttl));
      }
      taken_until = std::max(taken_until, answered.value_or(Us::max()));
    }
  }
  return out;
}

const Fault* fault_at(const Record& record, Us at) {
  for (const auto& fault : record.faults)
    if (fault.began <= at && at < fault.healed.value_or(Us::max())) return &fault;
  return nullptr;
}

}  // namespace

FreeLocks free_locks(const Record& record) {
  FreeLocks out;
  const auto sections = of_free_locks(record);
  std::vector<Us> healthy;
  for (const auto* section : sections) {
    const bool well =
        record.ready_at(*section->waited) == record.nodes && fault_at(record, *section->waited) == nullptr;
    if (well && section->granted) healthy.push_back(*section->granted - *section->waited);
  }
  out.healthy_median = percentile(healthy, 50);
  if (!out.healthy_median) return out;
  std::map<std::string, Availability> by_fault;
  for (const auto* section : sections) {
    const Us asked = *section->waited;
    const Fault* fault = fault_at(record, asked);
    const auto down = record.nodes - record.ready_at(asked);
    const bool quorum_stays =
        std::min(record.ready_at(asked), record.ready_at(asked + kSeenLate)) >= record.quorum();
    if (fault == nullptr || down < 1 || !quorum_stays) continue;
    auto& entry = by_fault[fault->id];
    entry.fault = fault->id;
    entry.nodes_down = std::max(entry.nodes_down, down);
    ++entry.tried;
    if (section->granted && *section->granted - asked <= *out.healthy_median * 3) ++entry.granted_soon;
  }
  for (auto& [id, entry] : by_fault) out.faults.push_back(std::move(entry));
  return out;
}

}  // namespace redlock::chaos
