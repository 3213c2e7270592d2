// RESP2 and nothing else: RESP3's types come only to those who say HELLO 3, which nobody here does.
#include "redis/reply_scanner.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

namespace redlock::redis {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// -1 or a length in the one way to write it. hiredis is as strict.
std::optional<long long> parse_length(std::string_view digits) {
  if (digits == "-1") return -1;
  if (digits.empty() || digits[0] == '-' || (digits[0] == '0' && digits.size() > 1)) return std::nullopt;
  long long value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// find_first_of calls memchr for every byte, which costs more than all the rest of a short reply's scan.
std::size_t find_line_end(std::string_view bytes, std::size_t from) {
  while (from < bytes.size() && bytes[from] != '\r' && bytes[from] != '\n') ++from;
  return from < bytes.size() ? from : std::string_view::npos;
}

std::string not_resp(std::string_view bytes) {
  constexpr std::string_view kResp3 = "_#,(!=%~>|";
  if (kResp3.find(bytes[0]) != std::string_view::npos)
    return std::string("the server sent a type of RESP3 ('") + bytes[0] + "') that nobody asked for";
  // A TLS record, an alert or a handshake: type 21 or 22, version 3.x.
  if ((bytes[0] == 21 || bytes[0] == 22) && bytes.size() > 1 && bytes[1] == 3)
    return "the server speaks TLS on this port, not plain RESP; write rediss:// for it";
  const auto start = bytes.substr(0, std::min<std::size_t>(bytes.find_first_of(kLineEnd), 60));
  return "the server does not speak RESP; it sent \"" + clean_text(start) + "\"";
}

}  // namespace

void ReplyScanner::restart() {
  at_ = searched_ = bulk_end_ = items_ = 0;
  open_.clear();
}

ReplyScanner::Status ReplyScanner::scan(std::string_view bytes) {
  while (true) {
    auto status = Status::need_more;
    if (bulk_end_ == 0) {
      if (at_ < bytes.size()) status = scan_line(bytes);
    } else if (bytes.size() >= bulk_end_) {
      if (bytes.substr(bulk_end_ - kLineEnd.size(), kLineEnd.size()) != kLineEnd)
        return broken("a string that is longer than the server said");
      status = item_ends(std::exchange(bulk_end_, 0));
    }
    if (status == Status::broken) return status;
    if (status == Status::need_more) {
      if (bytes.size() > limits_.max_buffered_bytes) return broken("a reply longer than is allowed");
      return status;
    }
    if (open_.empty() && bulk_end_ == 0) return Status::whole;
  }
}

// One line: a whole item, or the header of a bulk or an array. `whole` means that it was read.
ReplyScanner::Status ReplyScanner::scan_line(std::string_view bytes) {
  const char type = bytes[at_];
  if (std::string_view("+-:$*").find(type) == std::string_view::npos)
    return broken(not_resp(bytes.substr(at_)));
  const auto from = std::max(searched_, at_ + 1);
  const auto end = find_line_end(bytes, from);
  const auto line = bytes.substr(at_ + 1, (end == std::string_view::npos ? bytes.size() : end) - at_ - 1);
  if (line.size() > limits_.max_line_bytes) return broken("a line longer than is allowed");
  if (end == std::string_view::npos || end + 1 == bytes.size()) {
    if (end != std::string_view::npos && bytes[end] == '\n')
      return broken("a line feed without carriage return");
    searched_ = end == std::string_view::npos ? bytes.size() : end;
    return Status::need_more;
  }
  if (bytes[end] != '\r' || bytes[end + 1] != '\n')
    return broken("a line that does not end as lines of RESP do");
  return header(type, line, end + kLineEnd.size());
}

ReplyScanner::Status ReplyScanner::header(char type, std::string_view line, std::size_t next) {
  if (type != '$' && type != '*') return item_ends(next);
  const auto length = parse_length(line);
  if (!length) return broken("a length that is not a number: \"" + clean_text(line.substr(0, 40)) + "\"");
  if (*length == -1) return item_ends(next);
  const auto size = static_cast<std::size_t>(*length);
  if (type == '$') {
    if (size > limits_.max_bulk_bytes) return broken("a string longer than is allowed");
    bulk_end_ = next + size + kLineEnd.size();
    if (bulk_end_ > limits_.max_buffered_bytes) return broken("a reply longer than is allowed");
    return Status::whole;
  }
  if (static_cast<int>(open_.size()) == limits_.max_depth)
    return broken("arrays within arrays, deeper than is allowed");
  if (size == 0) return item_ends(next);
  if (size > limits_.max_array_items - items_) return broken("an array with more items than are allowed");
  items_ += size;
  open_.push_back(size);
  at_ = searched_ = next;
  return Status::whole;
}

ReplyScanner::Status ReplyScanner::item_ends(std::size_t at) {
  at_ = searched_ = at;
  if (at_ > limits_.max_buffered_bytes) return broken("a reply longer than is allowed");
  while (!open_.empty() && --open_.back() == 0) open_.pop_back();
  return Status::whole;
}

ReplyScanner::Status ReplyScanner::broken(std::string problem) {
  problem_ = std::move(problem);
  return Status::broken;
}

}  // namespace redlock::redis
