// AUTH and SELECT must succeed. The rest makes clean-up better and may be forbidden by an ACL, which is
// tolerated; but whatever shows that nothing at all will work here (not logged in, no room for us) ends the
// attempt.
#include "uv/handshake.h"

namespace redlock::uv {
namespace {

constexpr std::string_view kClientName = "redlock";
constexpr std::string_view kRunIdField = "run_id:";

std::string run_id_in(std::string_view info) {
  const auto begin = info.find(kRunIdField);
  if (begin == std::string_view::npos) return {};
  info.remove_prefix(begin + kRunIdField.size());
  return std::string(info.substr(0, info.find_first_of("\r\n")));
}

bool fits(redis::Value::Type type, redis::Value::Type wanted) {
  return type == wanted || type == redis::Value::Type::error;
}

}  // namespace

std::string Handshake::begin() {
  expected_.clear();
  at_ = 0;
  identity_ = {};
  cause_ = Cause::none;
  complaint_.clear();
  std::string out;
  const auto say = [&](Command command, const std::vector<std::string_view>& words) {
    expected_.push_back(command);
    redis::append_command(out, words);
  };
  if (!url_.user.empty())
    say(Command::auth, {"AUTH", url_.user, url_.password});
  else if (url_.has_password)
    say(Command::auth, {"AUTH", url_.password});
  if (url_.database != 0) say(Command::select, {"SELECT", std::to_string(url_.database)});
  say(Command::client_id, {"CLIENT", "ID"});
  say(Command::set_name, {"CLIENT", "SETNAME", kClientName});
  say(Command::info, {"INFO", "server"});
  return out;
}

Handshake::Step Handshake::on_value(const redis::Value& value) {
  using Type = redis::Value::Type;
  const Command command = expected_[at_++];
  const Type wanted = command == Command::client_id ? Type::integer
                      : command == Command::info    ? Type::bulk
                                                    : Type::status;
  if (!fits(value.type, wanted)) return Step::nonsense;
  if (value.type == Type::error) {
    if (const Step step = on_error(command, value.text); step != Step::more) return step;
  } else if (command == Command::client_id) {
    identity_.client_id = value.integer;
  } else if (command == Command::info) {
    identity_.run_id = run_id_in(value.text);
  }
  return at_ == expected_.size() ? Step::ready : Step::more;
}

Handshake::Step Handshake::on_error(Command command, std::string_view text) {
  Cause cause = redis::cause_of_error(text);
  // Whatever AUTH is refused for ("AUTH called without any password configured", "unknown command"), it means
  // that the credentials do not fit this server.
  if (command == Command::auth && cause == Cause::other) cause = Cause::authentication;
  if (complaint_.empty()) {
    cause_ = cause;
    complaint_ = redis::clean_text(without_secrets(std::string(text)));
  }
  const bool must_succeed = command == Command::auth || command == Command::select;
  const bool hopeless = cause == Cause::authentication || cause == Cause::max_clients;
  return must_succeed || hopeless ? Step::refused : Step::more;
}

core::Reply Handshake::refusal() const {
  const bool definite = cause_ == Cause::authentication || cause_ == Cause::permission;
  return {definite ? core::ReplyKind::failed : core::ReplyKind::unknown, cause_, core::kNoTimeLeft};
}

// A server without AUTH repeats the words that it did not understand.
std::string Handshake::without_secrets(std::string text) const {
  if (const auto at = text.find(", with args"); at != std::string::npos) text.resize(at);
  if (url_.password.empty()) return text;
  for (auto at = text.find(url_.password); at != std::string::npos; at = text.find(url_.password, at + 3))
    text.replace(at, url_.password.size(), "***");
  return text;
}

}  // namespace redlock::uv
