#include "proxy/commands.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <sstream>

namespace redlock::chaos {
namespace {

std::string fault(const std::string& what) {
  return fmt::format(R"({{"ok":false,"error":"{}"}})", what);
}

std::string pair(const std::array<std::uint64_t, 2>& both) {
  return fmt::format("[{},{}]", both[0], both[1]);
}

std::string report(const Proxy& proxy) {
  std::string lines;
  for (const auto& door : proxy.doors) lines += fmt::format("{}{}", lines.empty() ? "" : ",", door->lines());
  const Counters& c = proxy.counters;
  return fmt::format(
      R"({{"ok":true,"lines":[{}],"accepted":{},"refused":{},"reset":{},"truncated":{},"half_open":{},)"
      R"("unreachable":{},"passed":{},"dropped":{},"held":{},"stalled":{},"delayed":{}}})",
      lines, c.accepted, c.refused, c.reset, c.truncated, c.half_open, c.unreachable, pair(c.passed),
      pair(c.dropped), pair(c.held), pair(c.stalled), pair(c.delayed));
}

std::optional<std::int64_t> number(const std::string& word) {
  std::int64_t value = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  if (read.ec != std::errc{} || read.ptr != word.data() + word.size() || value < 0) return std::nullopt;
  return value;
}

using Words = std::vector<std::string>;

// How one command changes the weather of a direction. Nothing: the words behind the direction are no good.
std::optional<Weather> changed(Weather weather, const Words& words) {
  const std::string& verb = words[0];
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const auto value = number(words[i]);
    if (!value) return std::nullopt;
    numbers.push_back(*value);
  }
  const std::size_t count = numbers.size();
  if (verb == "delay" && (count == 1 || count == 2)) {
    weather.delay_us = numbers[0];
    weather.jitter_us = count == 2 ? numbers[1] : 0;
  } else if (verb == "loss" && count == 2 && numbers[0] <= 100) {
    weather.loss_percent = static_cast<int>(numbers[0]);
    weather.stall_us = numbers[1];
  } else if (verb == "throttle" && count == 1) {
    weather.bytes_per_s = numbers[0];
  } else if (verb == "truncate" && count == 1) {
    weather.truncate_below = numbers[0];
  } else if (verb == "hold" && count == 0) {
    weather.passage = Passage::held;
  } else if (verb == "drop" && count == 0) {
    weather.passage = Passage::dropped;
  } else {
    return std::nullopt;
  }
  return weather;
}

std::optional<std::vector<Direction>> directions(const std::string& word) {
  if (word == "up") return std::vector{Direction::up};
  if (word == "down") return std::vector{Direction::down};
  if (word == "both") return std::vector{Direction::up, Direction::down};
  return std::nullopt;
}

bool to_whole_door(Door& door, const std::string& verb, const Proxy& proxy) {
  if (verb == "refuse") {
    door.refuse(true);
  } else if (verb == "reset") {
    door.reset_all();
  } else if (verb == "half-open") {
    door.leave_clients();
  } else if (verb == "heal") {
    door.heal(proxy.usual);
  } else {
    return false;
  }
  return true;
}

// False: no such command.
bool to_doors(const Proxy& proxy, const std::vector<Door*>& doors, const Words& words) {
  if (words.size() == 1) {
    for (Door* const door : doors)
      if (!to_whole_door(*door, words[0], proxy)) return false;
    return true;
  }
  const auto which = directions(words[1]);
  if (!which || !changed({}, words)) return false;
  for (Door* const door : doors) {
    for (const Direction direction : *which)
      door->change(direction, [&](Weather& weather) { weather = *changed(weather, words); });
    door->weather_changed();
  }
  return true;
}

bool to_proxy(Proxy& proxy, const Words& words) {
  if (words[0] == "counters" && words.size() == 1) return true;
  if (words[0] == "move" && words.size() == 2) {
    sockaddr_in server{};
    if (!read_address(words[1], server)) return false;
    for (const auto& door : proxy.doors) door->lead_to(server);
    return true;
  }
  if (words[0] != "usual" || words.size() != 3) return false;
  const auto delay = number(words[1]);
  const auto jitter = number(words[2]);
  if (!delay || !jitter) return false;
  for (Weather& weather : proxy.usual) weather = {.delay_us = *delay, .jitter_us = *jitter};
  for (const auto& door : proxy.doors) door->heal(proxy.usual);
  return true;
}

}  // namespace

std::string obey(Proxy& proxy, const std::string& line) {
  std::istringstream stream(line);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  std::vector<Door*> doors;
  if (words.size() > 2 && words[0] == "door") {
    const auto at = number(words[1]);
    if (!at || static_cast<std::size_t>(*at) >= proxy.doors.size()) return fault("there is no such door");
    doors = {proxy.doors[static_cast<std::size_t>(*at)].get()};
    words.erase(words.begin(), words.begin() + 2);
  } else {
    for (const auto& door : proxy.doors) doors.push_back(door.get());
  }
  if (words.empty()) return fault("an empty line is no command");
  if (!to_proxy(proxy, words) && !to_doors(proxy, doors, words))
    return fault("no such command; see commands.h");
  return report(proxy);
}

bool read_address(const std::string& text, sockaddr_in& out) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  const auto port = number(text.substr(colon + 1));
  if (!port || *port > 65535) return false;
  return uv_ip4_addr(text.substr(0, colon).c_str(), static_cast<int>(*port), &out) == 0;
}

}  // namespace redlock::chaos
