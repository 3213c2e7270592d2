// The guard's commands and what their answers say. The check goes behind every write of votes, so its bytes
// are fixed and made once. See core/guard_facts.h for the meaning.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/guard.h"
#include "core/guard_facts.h"
#include "redis/codec.h"
#include "redis/scripts.h"

namespace redlock::redis {

inline constexpr std::string_view kGuardKey = "redlock:guard";
inline constexpr std::string_view kSettlingKey = "redlock:settling";
// What the guard's value and the line's notices begin with.
inline constexpr std::string_view kWireVersion = "redlock1";

// ---- check: MGET guard settling, TIME, INFO replication, INFO stats ---------------------------------------
//
// Redis 7 tells both sections at once, which is a fifth cheaper; older servers call that a syntax error.
// Asking for them is how to find out.

enum class Sections : std::uint8_t { apart, joined };
void append_joined_info(std::string& out);
Sections sections_of(const Value& answer);

inline constexpr int kCheckReplies = 4;  // apart
constexpr int check_replies(Sections sections) {
  return sections == Sections::joined ? kCheckReplies - 1 : kCheckReplies;
}
std::string_view check_commands(Sections sections);

// The mark that a text stands for. It is the same text with every check until somebody mends the node, so the
// last one is kept: comparing is a tenth of parsing.
class MarkMemory {
 public:
  const std::optional<core::Mark>& parse(std::string_view text);

 private:
  std::string text_;  // empty stands for no mark, as it should
  std::optional<core::Mark> mark_;
};

// Of the answers of one server, so that reading the next one is quick. What is read does not depend on it,
// since no server says a line twice.
struct CheckMemory {
  MarkMemory mark;
  std::array<std::size_t, 5> places{};  // where the lines of INFO stood that are looked at
};

// Nothing: these are no answers to those commands, and the connection must be closed. Times stay zero.
std::optional<core::Reading> read_check(const Value* values, Sections sections, CheckMemory& memory);
std::optional<core::Reading> read_check(const Value* values, Sections sections);

// ---- verification: a check, and INFO server, memory ------------------------------------------------

inline constexpr int kVerificationReplies = kCheckReplies + 2;
std::string_view verification_commands();
std::optional<core::Verification> read_verification(const Value* values);

// ---- mending ---------------------------------------------------------------------------------------------

// One script, and one reply. `reconfigure`: also where the mark is of other terms.
void append_mend(std::string& out, const core::GuardOrder& order, bool reconfigure = false);
// Ready at once, without settling, if the guard's key still holds `instead_of`; empty: if there is none.
void append_init(std::string& out, const core::Mark& mark, std::string_view instead_of);
// Nothing: no answer to either of these commands.
std::optional<core::MendResult> read_mend(const Value& value);

// KEYS[1] guard, KEYS[2] settling. ARGV: the new mark, "settle" | "again" | "remark" | "reconfigure" |
// "init", number of nodes, max_ttl in ms, deployment, grace in ms, the mark that is expected (remark, init).
//
// remark: the mark becomes the new one if it is the expected one. init: the same, where "" expects none, and
// no settling begins or goes on.
//
// settle: nothing if the mark is the new one already: somebody else did it. again: not even then nothing.
// Settling begins, or a running one is prolonged and never shortened, by the larger of the given max_ttl and
// the mark's, before the mark is written: when the second write fails, the node still settles.
//
// A mark of other terms is left alone, but for reconfigure. Answers: 1 done, 0 unneeded, -1 other terms.
const Script& mend_script();

// KEYS[1] lock, ARGV[1] life in ms: a key that lives longer is cut to that. Answers 1 or 0.
const Script& trim_script();
void append_trim(std::string& out, std::string_view key, core::Millis longest);

// ---- the mark as text ------------------------------------------------------------------------------------

std::string format_mark(const core::Mark& mark);
std::optional<core::Mark> parse_mark(std::string_view text);
// The first 32 hexadecimal digits; an unknown id where there are none.
core::ServerId parse_server_id(std::string_view text);

}  // namespace redlock::redis
