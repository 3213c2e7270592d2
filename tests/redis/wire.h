// One connection to a real server that speaks through nothing but the codec: what a test sends is what the
// library sends, what it gets was decoded and interpreted as the library does. Blocking, since a test has
// nothing else to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "redis/codec.h"

namespace redlock::redis {

class Wire {
 public:
  explicit Wire(std::uint16_t port);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // By hash first and by text after NOSCRIPT, as the library does.
  Interpreted ask(const core::Request& request, const std::string& key);
  // In the one form only.
  Interpreted ask_as(const core::Request& request, const std::string& key, bool by_text);
  Value command(const std::vector<std::string_view>& words);
  // One command that is encoded already.
  Value raw(const std::string& resp);
  // Commands in one write, and so many answers.
  std::vector<Value> exchange(const std::string& resp, std::size_t replies);
  // What a server says before it was asked.
  Value read();

 private:
  void write(const std::string& bytes);

  int socket_;
  Encoder encoder_;
  Decoder decoder_;
};

}  // namespace redlock::redis
