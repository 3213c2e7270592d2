// See guard_wire.h. A server that isn't trusted answers: everything that is read here is checked, and what
// does not fit makes a vote not count.
#include "redis/guard_wire.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "redis/info.h"

namespace redlock::redis {
namespace {

constexpr core::Millis kLongest = std::chrono::hours(10000);

std::string hex(const core::ServerId& id) {
  std::string text(32, '0');
  std::array<char, 16> digits{};
  const auto put = [&](std::uint64_t half, std::size_t at) {
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), half, 16).ptr;
    const auto size = static_cast<std::size_t>(end - digits.data());
    std::copy(digits.data(), end, text.begin() + static_cast<std::ptrdiff_t>(at + 16 - size));
  };
  put(id.high, 0);
  put(id.low, 16);
  return text;
}

// What stands between two spaces, front first.
std::string_view word(std::string_view& text) {
  const auto end = std::min(text.find(' '), text.size());
  const auto first = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return first;
}

// `name` begins with the line feed before it and ends with the colon. `place`: where it stood in the last
// answer of this server, and where it stands in this one. Counters on the lines before it get longer now and
// then, so it is looked for from a little before that.
std::string_view info_line(std::string_view info, std::string_view name, std::size_t& place) {
  constexpr std::size_t kSlack = 40;
  auto at = info.find(name, place - std::min(place, kSlack));
  if (at == std::string_view::npos) at = info.find(name);
  place = at == std::string_view::npos ? 0 : at;
  if (at == std::string_view::npos)
    return info_field(info, name.substr(1, name.size() - 2));  // the first line
  const auto value = info.substr(at + name.size());
  return value.substr(0, std::min(value.find('\r'), value.find('\n')));
}

void read_facts(std::string_view replication, std::string_view stats, CheckMemory& memory,
                core::Reading& reading) {
  auto& places = memory.places;
  reading.master = info_line(replication, "\nrole:", places[0]) == "master";
  const auto replicas = info_line(replication, "\nconnected_slaves:", places[1]);
  reading.replicas = parse_number<std::uint16_t>(replicas).value_or(1);
  reading.replid = parse_server_id(info_line(replication, "\nmaster_replid:", places[2]));
  const auto second = info_line(replication, "\nmaster_replid2:", places[3]);
  reading.was_replica = second.find_first_not_of('0') != std::string_view::npos;
  const auto evicted = parse_number<std::int64_t>(info_line(stats, "\nevicted_keys:", places[4]));
  if (!reading.replid.known() || !evicted || *evicted < 0) reading.failed = Cause::unverified;
  reading.evicted = evicted.value_or(0);
}

void read_mark(const Value& value, CheckMemory& memory, core::Reading& reading) {
  if (value.type == Value::Type::nil) return;
  const auto& mark = memory.mark.parse(value.text);
  reading.mark_state = mark ? core::MarkState::present : core::MarkState::garbled;
  if (mark) reading.mark = *mark;
}

bool is_error(const Value& value) {
  return value.type == Value::Type::error;
}

bool text_or_nil(const Value& value) {
  return value.type == Value::Type::bulk || value.type == Value::Type::nil;
}

}  // namespace

core::ServerId parse_server_id(std::string_view text) {
  core::ServerId id;
  if (text.size() < 32) return id;
  const auto half = [&](std::size_t at) {
    std::uint64_t value = 0;
    const char* const end = text.data() + at + 16;
    const auto result = std::from_chars(text.data() + at, end, value, 16);
    return result.ec == std::errc{} && result.ptr == end ? value : 0;
  };
  id.high = half(0);
  id.low = half(16);
  return id;
}

std::string format_mark(const core::Mark& mark) {
  std::string text(kWireVersion);
  const auto add = [&](std::string_view part) { (text += ' ') += part; };
  add(hex(mark.run_id));
  add(hex(mark.replid));
  add(std::to_string(mark.terms.nodes));
  add(std::to_string(mark.terms.max_ttl.count()));
  add(mark.terms.deployment.view());
  add(std::to_string(mark.evicted));
  return text;
}

const std::optional<core::Mark>& MarkMemory::parse(std::string_view text) {
  if (text_ != text) {
    mark_ = parse_mark(text);
    text_ = text;
  }
  return mark_;
}

std::optional<core::Mark> parse_mark(std::string_view text) {
  const std::string_view whole = text;
  if (word(text) != kWireVersion) return std::nullopt;
  core::Mark mark;
  mark.run_id = parse_server_id(word(text));
  mark.replid = parse_server_id(word(text));
  const auto nodes = parse_number<std::uint8_t>(word(text));
  const auto max_ttl = parse_number<std::int64_t>(word(text));
  const auto deployment = word(text);
  const auto evicted = parse_number<std::int64_t>(word(text));
  const bool fits = mark.run_id.known() && mark.replid.known() && nodes && *nodes >= 1 && max_ttl &&
                    *max_ttl >= 1 && *max_ttl <= kLongest.count() && core::Deployment::fits(deployment) &&
                    evicted && *evicted >= 0;
  if (!fits) return std::nullopt;
  mark.terms = {*nodes, core::Millis{*max_ttl}, core::Deployment(deployment)};
  mark.evicted = *evicted;
  if (format_mark(mark) != whole) return std::nullopt;  // written by hand
  return mark;
}

void append_joined_info(std::string& out) {
  append_command(out, {"INFO", "replication", "stats"});
}

Sections sections_of(const Value& answer) {
  const bool both = answer.type == Value::Type::bulk && !info_field(answer.text, "role").empty() &&
                    !info_field(answer.text, "evicted_keys").empty();
  return both ? Sections::joined : Sections::apart;
}

std::string_view check_commands(Sections sections) {
  const auto make = [](Sections how) {
    std::string out;
    append_command(out, {"MGET", kGuardKey, kSettlingKey});
    append_command(out, {"TIME"});
    if (how == Sections::joined) {
      append_joined_info(out);
    } else {
      append_command(out, {"INFO", "replication"});
      append_command(out, {"INFO", "stats"});
    }
    return out;
  };
  static const std::string& apart = *new std::string(make(Sections::apart));
  static const std::string& joined = *new std::string(make(Sections::joined));
  return sections == Sections::joined ? joined : apart;
}

std::string_view verification_commands() {
  static const std::string& commands = *new std::string([] {
    std::string out(check_commands(Sections::apart));
    append_command(out, {"INFO", "server"});
    append_command(out, {"INFO", "memory"});
    return out;
  }());
  return commands;
}

// The settling key's value is the node's own time, in ms, at which it goes away.
std::optional<core::Reading> read_check(const Value* values, Sections sections, CheckMemory& memory) {
  core::Reading reading;
  const int replies = check_replies(sections);
  for (int i = 0; i < replies && reading.failed == Cause::none; ++i)
    if (is_error(values[i])) reading.failed = cause_of_error(values[i].text);
  const auto& keys = values[0];
  const auto& time = values[1];
  const auto& info = values[2];
  const auto& stats = values[replies - 1];
  const auto fits = [](const Value& value, bool as_asked) { return as_asked || is_error(value); };
  const bool all_fit = fits(keys, keys.type == Value::Type::array && keys.items.size() == 2 &&
                                      text_or_nil(keys.items[0]) && text_or_nil(keys.items[1])) &&
                       fits(time, time.type == Value::Type::array && time.items.size() == 2) &&
                       fits(info, info.type == Value::Type::bulk) &&
                       fits(stats, stats.type == Value::Type::bulk);
  if (!all_fit) return std::nullopt;
  if (reading.failed != Cause::none) return reading;
  const auto seconds = parse_number<std::int64_t>(time.items[0].text);
  const auto micros = parse_number<std::int64_t>(time.items[1].text);
  constexpr std::int64_t kMostSeconds = 1LL << 40U;
  if (!seconds || !micros || *seconds < 0 || *seconds > kMostSeconds || *micros < 0 || *micros >= 1000000)
    return std::nullopt;
  reading.node_time = core::Micros{*seconds * 1000000 + *micros};
  read_mark(keys.items[0], memory, reading);
  reading.settling = keys.items[1].type == Value::Type::bulk;
  if (reading.settling) {
    const auto end = core::Millis{parse_number<std::int64_t>(keys.items[1].text).value_or(0)};
    const auto now = std::chrono::floor<core::Millis>(reading.node_time);
    reading.settling_left = end > now ? std::min(end - now, kLongest) : core::Millis{0};
  }
  read_facts(info.text, stats.text, memory, reading);
  return reading;
}

std::optional<core::Reading> read_check(const Value* values, Sections sections) {
  CheckMemory none;
  return read_check(values, sections, none);
}

std::optional<core::Verification> read_verification(const Value* values) {
  const auto reading = read_check(values, Sections::apart);
  if (!reading) return std::nullopt;
  core::Verification found;
  found.reading = *reading;
  for (int i = kCheckReplies; i < kVerificationReplies; ++i) {
    if (is_error(values[i])) {
      if (found.reading.failed == Cause::none) found.reading.failed = cause_of_error(values[i].text);
    } else if (values[i].type != Value::Type::bulk) {
      return std::nullopt;
    }
  }
  if (found.reading.failed != Cause::none) return found;
  found.run_id = parse_server_id(info_field(values[kCheckReplies].text, "run_id"));
  const std::string_view memory = values[kCheckReplies + 1].text;
  const auto policy = info_field(memory, "maxmemory_policy");
  const auto bound = parse_number<std::uint64_t>(info_field(memory, "maxmemory"));
  found.evicts = policy != "noeviction" && bound.value_or(1) != 0;
  if (!found.run_id.known() || policy.empty() || !bound) found.reading.failed = Cause::unverified;
  return found;
}

void append_mend(std::string& out, const core::GuardOrder& order, bool reconfigure) {
  const std::string mark = format_mark(order.mark);
  const std::string nodes = std::to_string(order.mark.terms.nodes);
  const std::string max_ttl = std::to_string(order.mark.terms.max_ttl.count());
  const std::string grace = std::to_string(order.grace.count());
  const std::string expected = order.expected == core::Mark{} ? "" : format_mark(order.expected);
  const std::string_view what = reconfigure                     ? "reconfigure"
                                : !order.settle                 ? "remark"
                                : order.why == core::Why::again ? "again"
                                                                : "settle";
  append_command(out, {"EVAL", mend_script().text(), "2", kGuardKey, kSettlingKey, mark, what, nodes, max_ttl,
                       order.mark.terms.deployment.view(), grace, expected});
}

void append_trim(std::string& out, std::string_view key, core::Millis longest) {
  append_command(out, {"EVAL", trim_script().text(), "1", key, std::to_string(longest.count())});
}

void append_init(std::string& out, const core::Mark& mark, std::string_view instead_of) {
  append_command(out, {"EVAL", mend_script().text(), "2", kGuardKey, kSettlingKey, format_mark(mark), "init",
                       "", "", "", "", instead_of});
}

std::optional<core::MendResult> read_mend(const Value& value) {
  if (value.type == Value::Type::error) return core::MendResult::failed;
  if (value.type != Value::Type::integer) return std::nullopt;
  switch (value.integer) {
    case 1:
      return core::MendResult::done;
    case 0:
      return core::MendResult::unneeded;
    case -1:
      return core::MendResult::mismatched;
    default:
      return std::nullopt;
  }
}

}  // namespace redlock::redis
