// See sentinel_talk.h. The answer decides where locks are asked for, so whatever is no address is refused and
// not guessed at.
#include "uv/sentinel_talk.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "redlock/name.h"
#include "uv/handshake.h"

namespace redlock::uv {
namespace {

using Type = redis::Value::Type;

constexpr std::size_t kMaxHostBytes = 253;

bool is_host(std::string_view text) {
  return !text.empty() && text.size() <= kMaxHostBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

std::uint16_t port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? port : std::uint16_t{0};
}

}  // namespace

std::string SentinelTalk::begin() {
  at_ = 0;
  master_ = {};
  cause_ = Cause::none;
  why_.clear();
  std::string out;
  if (!url_.sentinel_user.empty())
    redis::append_command(out, {"AUTH", url_.sentinel_user, url_.sentinel_password});
  else if (url_.has_sentinel_password)
    redis::append_command(out, {"AUTH", url_.sentinel_password});
  redis::append_command(out, {"SENTINEL", "get-master-addr-by-name", url_.master});
  return out;
}

SentinelTalk::Step SentinelTalk::on_value(const redis::Value& value) {
  const bool in_login = at_++ == 0 && url_.has_sentinel_password;
  if (value.type == Type::error) return on_error(value.text, in_login);
  if (!in_login) return on_address(value);
  return value.type == Type::status ? Step::more
                                    : fail(Cause::protocol, "speaks no Redis: no answer to AUTH");
}

SentinelTalk::Step SentinelTalk::on_error(std::string_view text, bool in_login) {
  const auto words = words_without(std::string(text), url_.sentinel_password);
  const Cause cause = redis::cause_of_error(text);
  if (in_login)
    return fail(cause == Cause::other ? Cause::authentication : cause,
                "does not take the URL's sentinel_password: " + words);
  if (cause == Cause::authentication)
    return fail(cause,
                "asks for a password, to be written as ?sentinel_password=... behind the URL: " + words);
  if (text.find("unknown command") != std::string_view::npos)
    return fail(Cause::other, "is no Sentinel, which usually has port 26379: " + words);
  return fail(cause, "refuses: " + words);
}

SentinelTalk::Step SentinelTalk::on_address(const redis::Value& value) {
  if (value.type == Type::nil)
    return fail(Cause::not_connected, "knows no master by the name " + printable(url_.master));
  const bool two = value.type == Type::array && value.items.size() == 2 &&
                   value.items[0].type == Type::bulk && value.items[1].type == Type::bulk;
  if (!two) return fail(Cause::protocol, "answers with no address");
  master_ = {value.items[0].text, port_of(value.items[1].text)};
  if (is_host(master_.host) && master_.port != 0) return Step::found;
  return fail(Cause::protocol, "answers with no address: \"" + redis::clean_text(value.items[0].text) +
                                   "\", port \"" + redis::clean_text(value.items[1].text) + "\"");
}

SentinelTalk::Step SentinelTalk::fail(Cause cause, std::string why) {
  cause_ = cause;
  why_ = std::move(why);
  return Step::failed;
}

}  // namespace redlock::uv
