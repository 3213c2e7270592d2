// What a server's error replies mean. Redis writes a code first (`OOM command not allowed ...`); an error
// that was raised inside a script comes in another wrapping in each major version, so the codes are looked
// for behind those wrappings too.
#include <algorithm>
#include <array>
#include <utility>

#include "redis/codec.h"
#include "redlock/name.h"

namespace redlock::redis {
namespace {

constexpr std::size_t kMaxTextChars = 200;

constexpr std::array<std::pair<std::string_view, Cause>, 12> kCodes{{
    {"NOAUTH", Cause::authentication},
    {"WRONGPASS", Cause::authentication},
    {"NOPERM", Cause::permission},
    {"DENIED", Cause::permission},  // protected mode: loopback only until a password is set
    {"READONLY", Cause::read_only},
    {"LOADING", Cause::loading},
    {"OOM", Cause::out_of_memory},
    {"MISCONF", Cause::misconfigured},
    {"WRONGTYPE", Cause::wrong_type},
    {"MASTERDOWN", Cause::master_down},
    {"NOREPLICAS", Cause::misconfigured},  // min-replicas-to-write isn't met: it may not write
    {"NOMASTERLINK", Cause::master_down},
}};

// Errors that come as plain `ERR`, known by how they go on.
constexpr std::array<std::pair<std::string_view, Cause>, 6> kPhrases{{
    {"max number of clients", Cause::max_clients},
    {"invalid password", Cause::authentication},  // AUTH before Redis 6
    {"Client sent AUTH, but no password", Cause::authentication},
    {"AUTH <password> called without", Cause::authentication},
    {"invalid username-password", Cause::authentication},
    {"The user executing the script can't", Cause::permission},  // Redis 7.0, in a script
}};

bool is_code_at(std::string_view text, std::string_view code) {
  return text.starts_with(code) && (text.size() == code.size() || text[code.size()] == ' ');
}

Cause cause_of_code(std::string_view text) {
  for (const auto& [code, cause] : kCodes)
    if (is_code_at(text, code)) return cause;
  return Cause::other;
}

}  // namespace

Cause cause_of_error(std::string_view error_text) {
  while (error_text.starts_with('-')) error_text.remove_prefix(1);
  if (const auto cause = cause_of_code(error_text); cause != Cause::other) return cause;
  if (!is_code_at(error_text, "ERR")) return Cause::other;
  error_text.remove_prefix(std::string_view("ERR").size());
  while (error_text.starts_with(' ')) error_text.remove_prefix(1);
  for (const auto& [phrase, cause] : kPhrases)
    if (error_text.starts_with(phrase)) return cause;
  // Redis before 7: "ERR Error running script (call to f_<sha>): @user_script:3: @user_script: 3: -READONLY
  // You ...".
  constexpr std::string_view kPlace = "@user_script";
  if (!error_text.starts_with("Error running script")) return Cause::other;
  const auto place = error_text.rfind(kPlace);
  if (place == std::string_view::npos) return Cause::other;
  error_text.remove_prefix(place + kPlace.size());
  error_text.remove_prefix(std::min(error_text.find_first_not_of(": 0123456789-"), error_text.size()));
  return cause_of_code(error_text);
}

std::string clean_text(std::string_view text) {
  constexpr std::string_view kCut = "...";
  std::string out;
  bool space = false;
  for (const char c : text.substr(0, kMaxTextChars + 1)) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      space = !out.empty();
      continue;
    }
    if (space) out += ' ';
    space = false;
    out += printable(std::string_view(&c, 1));
  }
  if (text.size() > kMaxTextChars || out.size() > kMaxTextChars) {
    out.resize(std::min(out.size(), kMaxTextChars - kCut.size()));
    out += kCut;
  }
  return out;
}

}  // namespace redlock::redis
