// See notice.h.
#include "redis/notice.h"

#include <array>
#include <vector>

#include "core/fencing.h"
#include "redis/codec.h"
#include "redis/guard_wire.h"
#include "redis/info.h"
#include "redis/scripts.h"

namespace redlock::redis {
namespace {

constexpr std::size_t kFields = 5;

// All of the message, or nothing. What is fed behind it shows that nothing of it was cut off or left over:
// only behind a whole value can it be one of its own.
std::vector<Value> decode(std::string_view message) {
  constexpr std::size_t kMost = 1 + kCheckReplies;
  Decoder decoder;
  decoder.feed(message);
  std::vector<Value> values;
  Value value;
  auto status = decoder.next(value);
  for (; status == Decoder::Status::value; status = decoder.next(value)) {
    if (values.size() == kMost) return {};
    values.push_back(std::move(value));
  }
  decoder.feed("+end\r\n");
  if (status != Decoder::Status::need_more || decoder.next(value) != Decoder::Status::value) return {};
  if (value.type != Value::Type::status || value.text != "end") return {};
  return values;
}

}  // namespace

void write_waiter(core::Waiter waiter, char* to) {
  for (std::size_t i = 0; i < kWaiterChars; ++i)
    to[i] = "0123456789abcdef"[(static_cast<std::uint64_t>(waiter) >> (60U - 4U * i)) & 15U];
}

std::string channel_of(core::Waiter waiter) {
  std::string channel(kLinePrefix.size() + kWaiterChars, '0');
  kLinePrefix.copy(channel.data(), kLinePrefix.size());
  write_waiter(waiter, channel.data() + kLinePrefix.size());
  return channel;
}

std::optional<HeardNotice> read_notice(std::string_view message) {
  const auto values = decode(message);
  if (values.empty()) return std::nullopt;
  const auto& fields = values[0].items;
  if (fields.size() != kFields || fields[0].text != kWireVersion) return std::nullopt;
  for (const Value& field : fields)
    if (field.type != Value::Type::bulk) return std::nullopt;
  const auto token = Token::parse(fields[1].text);
  const auto renewal = parse_number<std::uint32_t>(fields[2].text);
  const auto fencing = parse_number<std::int64_t>(fields[3].text);
  if (!token || !renewal || !fencing || fields[4].text.empty()) return std::nullopt;
  if (*fencing != core::kNoFencing && !core::usable(*fencing)) return std::nullopt;
  HeardNotice heard{fields[4].text, {*token, core::Round{*renewal}, *fencing}, std::nullopt};
  if (values.size() == 1) return heard;
  const auto sections = values.size() == 1 + kCheckReplies ? Sections::apart : Sections::joined;
  if (values.size() != 1 + static_cast<std::size_t>(check_replies(sections))) return std::nullopt;
  heard.reading = read_check(&values[1], sections);
  if (!heard.reading) return std::nullopt;
  return heard;
}

}  // namespace redlock::redis
