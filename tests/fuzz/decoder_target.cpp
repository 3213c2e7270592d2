// A hostile server: any bytes, in any pieces, answering any request. The first two bytes choose the size of
// the pieces and the request, the rest is what the server sends.
#include <string>
#include <vector>

#include "core/fencing.h"
#include "fuzz/check.h"
#include "fuzz/targets.h"
#include "redis/codec.h"

namespace redlock::fuzz {
namespace {

using namespace redis;

// Tight, so that a fuzzer's short inputs reach them.
DecoderLimits tight() {
  DecoderLimits limits;
  limits.max_buffered_bytes = 256;
  limits.max_bulk_bytes = 100;
  limits.max_array_items = 16;
  limits.max_line_bytes = 64;
  limits.max_depth = 3;
  return limits;
}

std::size_t check_shape(const Value& value, int depth) {
  FUZZ_CHECK(depth <= 3);
  FUZZ_CHECK(value.type == Value::Type::array || value.items.empty());
  FUZZ_CHECK(value.type == Value::Type::integer || value.integer == 0);
  FUZZ_CHECK(value.text.size() <= 100);
  std::size_t items = value.items.size();
  for (const auto& item : value.items)
    items += check_shape(item, depth + (item.type == Value::Type::array ? 1 : 0));
  return items;
}

struct Run {
  std::vector<Value> values;
  bool broken = false;
};

Run run(std::string_view bytes, std::size_t piece) {
  Decoder decoder(tight());
  Run result;
  Value value;
  while (!bytes.empty() && !result.broken) {
    decoder.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    auto status = decoder.next(value);
    for (; status == Decoder::Status::value; status = decoder.next(value)) result.values.push_back(value);
    result.broken = status == Decoder::Status::broken;
    FUZZ_CHECK(result.broken == !decoder.problem().empty());
    FUZZ_CHECK(is_clean_line(decoder.problem()));
  }
  return result;
}

bool same(const Value& a, const Value& b) {
  if (a.type != b.type || a.integer != b.integer || a.text != b.text || a.items.size() != b.items.size())
    return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!same(a.items[i], b.items[i])) return false;
  return true;
}

core::Request request_of(std::uint8_t choice) {
  core::Request request;
  request.kind = static_cast<core::RequestKind>(choice & 3U);
  request.heal = (choice & 4U) != 0;
  request.want_time_left = (choice & 8U) != 0;
  if ((choice & 16U) != 0) request.kind = core::RequestKind::raise;
  if ((choice & 32U) != 0) {
    request.fenced = request.kind == core::RequestKind::acquire || request.kind == core::RequestKind::raise;
    request.fencing = 1790000000000000;
    request.max_ttl = std::chrono::seconds(30);
  }
  if ((choice & 64U) != 0) {
    request.kind = core::RequestKind::enter;
    request.fenced = (choice & 32U) != 0;
  }
  return request;
}

void check_meaning(const core::Request& request, const Interpreted& got) {
  using core::ReplyKind;
  const auto& reply = got.reply;
  FUZZ_CHECK(is_clean_line(got.text));
  FUZZ_CHECK(got.nonsense == (reply.kind == ReplyKind::unknown));
  FUZZ_CHECK(!got.nonsense || reply.cause == Cause::protocol);
  const bool counts = request.fenced;
  const bool enters = request.kind == core::RequestKind::enter;
  FUZZ_CHECK(!got.no_script || (counts && !enters && reply.kind == ReplyKind::granted) ||
             (reply.kind == ReplyKind::failed && request.kind != core::RequestKind::acquire));
  FUZZ_CHECK(reply.fencing == core::kNoFencing || core::usable(reply.fencing));
  FUZZ_CHECK(reply.fencing == core::kNoFencing || reply.kind == ReplyKind::granted);
  FUZZ_CHECK(reply.fencing == core::kNoFencing || counts || request.kind == core::RequestKind::raise);
  FUZZ_CHECK((reply.kind == ReplyKind::granted) == (reply.cause == Cause::none));
  FUZZ_CHECK((reply.kind == ReplyKind::held) == (reply.cause == Cause::held));
  FUZZ_CHECK(reply.kind == ReplyKind::held || reply.time_left == core::kNoTimeLeft);
  FUZZ_CHECK(reply.time_left >= core::kNoTimeLeft && reply.time_left <= std::chrono::hours{10000});
  FUZZ_CHECK(reply.kind != ReplyKind::missing || enters ||
             (request.kind != core::RequestKind::acquire && !counts));
  const bool has_place = reply.arrival != core::kNoArrival || reply.rank != 0 || reply.after;
  FUZZ_CHECK(!has_place || (enters && (reply.kind == ReplyKind::held || reply.kind == ReplyKind::missing)));
  FUZZ_CHECK(reply.arrival >= core::kNoArrival && reply.arrival <= core::kMostFencing);
  FUZZ_CHECK(reply.final());
}

}  // namespace

void decoder(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return;
  const auto request = request_of(data[1]);
  const auto bytes = text_of(data + 2, size - 2);
  const auto whole = run(bytes, std::max<std::size_t>(bytes.size(), 1));
  const auto cut = run(bytes, std::size_t{data[0]} + 1);
  // In which pieces bytes come makes no difference to what they mean.
  FUZZ_CHECK(cut.broken == whole.broken);
  FUZZ_CHECK(cut.values.size() == whole.values.size());
  for (std::size_t i = 0; i < whole.values.size(); ++i) {
    FUZZ_CHECK(same(cut.values[i], whole.values[i]));
    FUZZ_CHECK(check_shape(whole.values[i], whole.values[i].type == Value::Type::array ? 1 : 0) <= 16);
  }
  const auto step = static_cast<std::size_t>(replies_expected(request));
  for (std::size_t i = 0; i + step <= whole.values.size(); i += step)
    check_meaning(request, interpret(request, &whole.values[i]));
}

}  // namespace redlock::fuzz
