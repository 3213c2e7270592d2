// Walks over a reply of a server that isn't trusted and says where it ends, without keeping anything of it.
// hiredis sees a reply only after it has passed here, whole and within the limits; so no length that a server
// claims is ever reserved before the bytes have come, and hiredis never parses anything twice.
//
// The walk goes on where it stopped: feeding byte by byte costs the same in total as feeding at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "redis/codec.h"

namespace redlock::redis {

class ReplyScanner {
 public:
  enum class Status : std::uint8_t { whole, need_more, broken };

  explicit ReplyScanner(DecoderLimits limits) : limits_(limits) {}

  // `bytes` starts at the reply's first byte and, from call to call, only grows. After `whole` or `broken`:
  // restart() first.
  Status scan(std::string_view bytes);
  // After `whole`: the reply's length.
  [[nodiscard]] std::size_t size() const { return at_; }
  // After `broken`: why, in one clean line.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  void restart();

 private:
  Status scan_line(std::string_view bytes);
  Status header(char type, std::string_view line, std::size_t next);
  Status item_ends(std::size_t at);
  Status broken(std::string problem);

  DecoderLimits limits_;
  std::size_t at_ = 0;             // where the item starts that is being looked at
  std::size_t searched_ = 0;       // up to here there is no end of its line
  std::size_t bulk_end_ = 0;       // not 0: the item is a bulk whose header was read; it ends here
  std::size_t items_ = 0;          // of all arrays of this reply together
  std::vector<std::size_t> open_;  // items still to come, of each array around this item
  std::string problem_;
};

}  // namespace redlock::redis
