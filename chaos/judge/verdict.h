// What a history shows, and whether that was to be expected.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record.h"
#include "verify/fencing_order.h"
#include "verify/mutual_exclusion.h"
#include "verify/stalls.h"
#include "waits.h"

namespace redlock::chaos {

enum class Expect : unsigned char {
  clean,     // none of what a lock must never do
  overlaps,  // two holders at once, found: a negative control
  broken,    // any rule broken, found: a negative control whose fault need not show as two holders
  shown      // whatever comes
};
[[nodiscard]] std::optional<Expect> expect_from(const std::string& word);
[[nodiscard]] std::string to_string(Expect expect);

struct FoundOverlap {
  verify::Overlap overlap;
  const Section* first = nullptr;
  const Section* second = nullptr;
  const Fault* fault = nullptr;  // the last that began before it
};
struct FoundInversion {
  verify::Disorder disorder;
  const Section* first = nullptr;
  const Section* second = nullptr;
};
struct StaleWrites {
  std::uint64_t plain = 0;
  std::uint64_t fenced_refused = 0;
  std::uint64_t fenced_accepted = 0;
};

// Points into the record that it was made from.
struct Verdict {
  Expect expect = Expect::clean;
  bool as_expected = false;
  std::uint64_t sections = 0;
  std::uint64_t grants = 0;
  std::vector<FoundOverlap> overlaps;
  std::vector<FoundInversion> inversions;
  StaleWrites stale_writes;
  std::vector<const Section*> promised_too_much;
  std::vector<verify::Stall> stalls;  // of a second and more, longest first
  Us longest_stall{0};
  std::vector<Phase> phases;
  FreeLocks free_locks;
  std::vector<std::string> problems;

  [[nodiscard]] std::uint64_t broken_rules() const {
    return overlaps.size() + inversions.size() + promised_too_much.size() + stale_writes.fenced_accepted;
  }
};

// `so_far`: of a series that still runs, whose events are written late.
[[nodiscard]] Verdict judge(const Record& record, Expect expect, bool so_far = false);

}  // namespace redlock::chaos
