// Bytes to values: the scanner finds a whole reply within the limits, and what it has been over is read here
// straight into the caller's Value. A Value that is used again costs no allocation for replies of the same
// shape, and hiredis' reader, which would copy the bytes once more and look at each line twice, is left to
// the tests, where it says what is right.
#include <charconv>
#include <utility>

#include "redis/codec.h"
#include "redis/reply_scanner.h"

namespace redlock::redis {
namespace {

// What is kept of an emptied buffer: more than a loop turn of ordinary replies.
constexpr std::size_t kKeptBytes = 64U << 10;

// Every length holds and every line ends as it should: the scanner has seen to that. What is left to be wrong
// is a number.
class Builder {
 public:
  explicit Builder(std::string_view reply) : reply_(reply) {}

  // False: an integer that is none, or is not written in the one way to write it.
  bool build(Value& out) {
    const char type = reply_[at_++];
    out.integer = 0;
    if (type == '*') return build_array(out, line());
    out.items.clear();
    switch (type) {
      case '$':
        build_bulk(out, line());
        return true;
      case ':':
        out.type = Value::Type::integer;
        out.text.clear();
        return read_integer(line(), out.integer);
      default:
        out.type = type == '-' ? Value::Type::error : Value::Type::status;
        out.text = line();
        return true;
    }
  }

 private:
  static constexpr std::size_t kLineEnd = 2;

  std::string_view line() {
    const auto begin = at_;
    while (reply_[at_] != '\r') ++at_;
    const auto text = reply_.substr(begin, at_ - begin);
    at_ += kLineEnd;
    return text;
  }

  static bool read_integer(std::string_view digits, std::int64_t& out) {
    const bool negative = digits.starts_with('-');
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (error != std::errc{} || end != digits.data() + digits.size()) return false;
    const auto first = digits[negative ? 1 : 0];
    return first != '0' || digits.size() == 1;
  }

  void build_bulk(Value& out, std::string_view digits) {
    std::int64_t size = 0;
    read_integer(digits, size);
    if (size < 0) return nil(out);
    out.type = Value::Type::bulk;
    out.text = reply_.substr(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size) + kLineEnd;
  }

  bool build_array(Value& out, std::string_view digits) {
    std::int64_t count = 0;
    read_integer(digits, count);
    if (count < 0) {
      out.items.clear();
      nil(out);
      return true;
    }
    out.type = Value::Type::array;
    out.text.clear();
    out.items.resize(static_cast<std::size_t>(count));  // what is kept keeps its memory
    for (Value& item : out.items)
      if (!build(item)) return false;
    return true;
  }

  static void nil(Value& out) {
    out.type = Value::Type::nil;
    out.text.clear();
  }

  std::string_view reply_;
  std::size_t at_ = 0;
};

}  // namespace

struct Decoder::Impl {
  explicit Impl(DecoderLimits limits) : scanner(limits) {}

  Status broken(std::string why) {
    problem = std::move(why);
    std::string().swap(buffer);  // assignment would keep the memory
    begin = 0;
    return Status::broken;
  }

  ReplyScanner scanner;
  std::string buffer;
  std::size_t begin = 0;  // of the first reply in `buffer` that was not taken yet
  std::string problem;
};

Decoder::Decoder(DecoderLimits limits) : impl_(std::make_unique<Impl>(limits)) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

void Decoder::feed(std::string_view bytes) {
  auto& d = *impl_;
  if (!d.problem.empty()) return;
  // Moving what is left to the front only when it is the smaller half keeps the cost per byte constant.
  if (d.begin > d.buffer.size() / 2) {
    d.buffer.erase(0, d.begin);
    d.begin = 0;
  }
  d.buffer.append(bytes);
}

Decoder::Status Decoder::next(Value& out) {
  auto& d = *impl_;
  if (!d.problem.empty()) return Status::broken;
  const auto rest = std::string_view(d.buffer).substr(d.begin);
  switch (d.scanner.scan(rest)) {
    case ReplyScanner::Status::need_more:
      return Status::need_more;
    case ReplyScanner::Status::broken:
      return d.broken(d.scanner.problem());
    case ReplyScanner::Status::whole:
      break;
  }
  const auto size = d.scanner.size();
  if (!Builder(rest.substr(0, size)).build(out)) return d.broken("no RESP: a number that is none");
  d.scanner.restart();
  d.begin += size;
  if (d.begin == d.buffer.size()) {
    d.begin = 0;
    if (d.buffer.capacity() > kKeptBytes) std::string().swap(d.buffer);
    d.buffer.clear();
  }
  return Status::value;
}

const std::string& Decoder::problem() const {
  return impl_->problem;
}

}  // namespace redlock::redis
