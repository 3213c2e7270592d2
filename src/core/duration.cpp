// Durations as text. A bare number is refused: half of the world would read it as seconds, half as
// milliseconds, and a lock that lives a thousandth of what was meant is no lock.
#include "redlock/duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "redlock/name.h"

namespace redlock {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};

// From the largest down, as format_duration tries them.
constexpr std::array<Unit, 4> kUnits{{{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}}};

constexpr std::int64_t kMaxHours = 10000;

unexpected<std::string> fault(std::string_view text, std::string_view what) {
  constexpr std::size_t kShown = 40;
  return unexpected<std::string>("\"" + printable(text.substr(0, kShown)) +
                                 (text.size() > kShown ? "...\" " : "\" ") + std::string(what) +
                                 "; write a number and ms, s, m or h, as in 250ms or 10s");
}

}  // namespace

expected<std::chrono::milliseconds, std::string> parse_duration(std::string_view text) {
  const auto digits = text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
  const auto name = text.substr(digits.size());
  if (text.empty()) return fault(text, "is no duration");
  if (digits.empty()) return fault(text, "does not begin with a number of digits alone");
  if (name.empty()) return fault(text, "has no unit");
  if (name[0] == '.' || name[0] == ',') return fault(text, "has a fraction");
  for (const auto& unit : kUnits) {
    if (name != unit.name) continue;
    std::int64_t count = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (read.ec != std::errc{} || count > kMaxHours * kUnits[0].milliseconds / unit.milliseconds)
      return fault(text, "is longer than 10000h");
    return std::chrono::milliseconds(count * unit.milliseconds);
  }
  return fault(text, "has an unknown unit");
}

std::string format_duration(std::chrono::milliseconds duration) {
  const std::int64_t count = duration.count();
  if (count == 0) return "0s";
  for (const auto& unit : kUnits)
    if (count % unit.milliseconds == 0)
      return std::to_string(count / unit.milliseconds) + std::string(unit.name);
  return {};
}

}  // namespace redlock
