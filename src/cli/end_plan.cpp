// The arithmetic of ending a command in time; pure, so that its bounds can be tested one by one.
#include "cli/end_plan.h"

#include <fmt/format.h>

#include "redlock/duration.h"

namespace redlock::cli {

namespace {

using std::chrono::milliseconds;

// A loaded machine needs some milliseconds to bury a process, and long leases can afford half a second.
constexpr milliseconds kLeastMargin{10};
constexpr milliseconds kLargestMargin{500};
// Below this no machine that has something else to do ends a command in time.
constexpr milliseconds kLeastLife{100};

}  // namespace

expected<EndPlan, std::string> make_end_plan(milliseconds ttl, std::optional<milliseconds> max_hold,
                                             std::optional<milliseconds> grace) {
  const bool held_shorter = max_hold && *max_hold < ttl;
  const milliseconds life = held_shorter ? *max_hold : ttl;
  const char* option = held_shorter ? "--max-hold" : "--ttl";
  if (life < kLeastLife)
    return unexpected<std::string>(fmt::format("{}: {} is too short for run; write at least {}", option,
                                               format_duration(life), format_duration(kLeastLife)));
  EndPlan plan;
  plan.kill_margin = std::clamp(life / 20, kLeastMargin, kLargestMargin);
  plan.grace = grace.value_or(life / 10);
  const milliseconds most = life / 2 - plan.kill_margin;
  if (plan.grace > most)
    return unexpected<std::string>(fmt::format("--grace: {} is too long for {} {}; write at most {}",
                                               format_duration(plan.grace), option, format_duration(life),
                                               format_duration(most)));
  return plan;
}

}  // namespace redlock::cli
