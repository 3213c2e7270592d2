// Typed requests to RESP and back. The decoder is the only reader of replies; whatever a server says becomes
// a typed reply with a cause and a clean line of text, or the verdict that this connection no longer speaks
// RESP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/request.h"

namespace redlock::redis {

// ---- out -------------------------------------------------------------------------------------------------

// How many replies the server gives to a request (an acquire that wants the time left, or a counter's value,
// is two commands).
int replies_expected(const core::Request& request);

// The script that a request needs.
enum class ScriptKind : std::uint8_t { none, extend, undo, release, enter, count, raise, extend_fenced };
inline constexpr std::size_t kScriptKinds = 8;
ScriptKind script_of(const core::Request& request);

// What is still to be done for a fenced acquire whose SET was executed and whose script was not known: a
// raise that is `fenced` counts, and answers for the whole acquire.
core::Request count_alone(const core::Request& acquire);

// Appends the request's commands to `out`. Scripts go by hash (EVALSHA); `by_text` sends EVAL instead, after
// NOSCRIPT. Repeating the same request for the next node costs a copy.
class Encoder {
 public:
  void append(const core::Request& request, std::string_view key, bool by_text, std::string& out);

 private:
  core::Request last_request_;
  std::string last_key_;
  bool last_by_text_ = false;
  std::string last_bytes_;
};

// Appends one command of plain words (AUTH, SELECT, CLIENT ID, PING ...) in RESP.
void append_command(std::string& out, const std::vector<std::string_view>& words);

// ---- in --------------------------------------------------------------------------------------------------

// One reply of a server, reduced to what the protocol uses. Arrays are kept for admin and handshake only.
struct Value {
  enum class Type : std::uint8_t { nil, status, error, integer, bulk, array };
  Type type = Type::nil;
  std::int64_t integer = 0;
  std::string text;  // status, error, bulk
  std::vector<Value> items;
};

struct DecoderLimits {
  std::size_t max_buffered_bytes = 1U << 20;  // of one unfinished reply
  std::size_t max_bulk_bytes = 512U << 10;
  std::size_t max_array_items = 4096;
  std::size_t max_line_bytes = 16U << 10;
  int max_depth = 4;
};

// Fed with bytes as they come, asked for values. hiredis' reader does the parsing; a scanner in front of it
// enforces the limits, since hiredis 0.14 alone reserves memory for whatever length a server claims.
class Decoder {
 public:
  enum class Status : std::uint8_t { value, need_more, broken };

  explicit Decoder(DecoderLimits limits = {});
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  // Appends bytes; cheap. Bytes after a broken() are dropped.
  void feed(std::string_view bytes);
  // Takes the next whole value. After `broken` the connection must be closed; `problem()` says why, in one
  // clean line.
  Status next(Value& out);
  [[nodiscard]] const std::string& problem() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// ---- meaning ---------------------------------------------------------------------------------------------

struct Interpreted {
  core::Reply reply;
  // The server's words where the reply is failed or nonsense, or a grant has no counter because of an error;
  // clean for printing.
  std::string text;
  bool no_script = false;  // NOSCRIPT: send it again by text, once; of an acquire, count_alone()
  bool nonsense = false;   // not an answer to this command at all: the connection must be closed
};

// `values` has replies_expected(request) of them.
Interpreted interpret(const core::Request& request, const Value* values);

// The cause behind an error reply: NOAUTH, WRONGPASS, "ERR invalid password" → authentication; NOPERM →
// permission; ...
Cause cause_of_error(std::string_view error_text);

// Error texts of strange servers made fit for a log line: one line, printable ASCII, at most 200 characters.
std::string clean_text(std::string_view text);

}  // namespace redlock::redis
