// AUTH and SELECT must succeed. The rest makes clean-up better and may be forbidden by an ACL, or be missing
// in a managed server, which is tolerated and told; but whatever shows that locks will not work here (not
// logged in, no room for us, no scripts, a cluster) ends the attempt.
#include "uv/handshake.h"

#include <algorithm>
#include <cctype>

namespace redlock::uv {
namespace {

constexpr std::string_view kClientName = "redlock";
// The hash of no script. To ask for it shows whether the server knows scripts at all, and does nothing.
constexpr std::string_view kNoScript = "0000000000000000000000000000000000000000";

std::string field(std::string_view info, std::string_view name) {
  const auto begin = info.find(name);
  if (begin == std::string_view::npos) return {};
  info.remove_prefix(begin + name.size());
  return std::string(info.substr(0, info.find_first_of("\r\n")));
}

// In the words of Redis, of its forks, and of the proxies in front of them.
bool is_unknown_command(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.find("unknown") != std::string::npos || text.find("unsupported") != std::string::npos ||
         text.find("not supported") != std::string::npos || text.find("disabled") != std::string::npos;
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
  shortcomings_.clear();
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
  if (wants_master_) say(Command::replication, {"INFO", "replication"});
  say(Command::script, {"EVALSHA", kNoScript, "0"});
  facts_.clear();
  if (guarded_) {
    expected_.push_back(Command::sections);
    redis::append_joined_info(out);
    expected_.insert(expected_.end(), redis::kVerificationReplies, Command::guard);
    out += redis::verification_commands();
  }
  return out;
}

Handshake::Step Handshake::on_value(const redis::Value& value) {
  using Type = redis::Value::Type;
  const Command command = expected_[at_++];
  if (command == Command::guard) return on_fact(value);
  if (command == Command::sections) {
    sections_ = redis::sections_of(value);
    return Step::more;
  }
  const bool is_info = command == Command::info || command == Command::replication;
  const Type wanted = command == Command::client_id ? Type::integer
                      : is_info                     ? Type::bulk
                      : command == Command::script  ? Type::error
                                                    : Type::status;
  if (!fits(value.type, wanted)) return Step::nonsense;
  if (value.type == Type::error) {
    if (const Step step = on_error(command, value.text); step != Step::more) return step;
  } else if (command == Command::client_id) {
    identity_.client_id = value.integer;
  } else if (command == Command::info) {
    if (const Step step = on_info(value.text); step != Step::more) return step;
  } else if (command == Command::replication) {
    if (const Step step = on_replication(value.text); step != Step::more) return step;
  }
  return at_ == expected_.size() ? Step::ready : Step::more;
}

// A refusal here is the guard's business, and shows with every vote.
Handshake::Step Handshake::on_fact(const redis::Value& value) {
  facts_.push_back(value);
  if (at_ < expected_.size()) return Step::more;
  const auto found = redis::read_verification(facts_.data());
  if (!found) return Step::nonsense;
  verification_ = *found;
  return Step::ready;
}

Handshake::Step Handshake::on_info(std::string_view info) {
  identity_.run_id = field(info, "run_id:");
  const auto mode = field(info, "redis_mode:");
  if (mode == "cluster")
    return refuse(
        "it is a node of a Redis Cluster, whose keys move and fail over to servers that may have "
        "forgotten them; name independent masters (cluster-enabled no)");
  if (mode == "sentinel")
    return refuse(
        "it is a Sentinel, which keeps no keys; name the masters themselves, or write "
        "redis+sentinel://host:26379/mymaster");
  return Step::more;
}

Handshake::Step Handshake::on_replication(std::string_view info) {
  const auto role = field(info, "role:");
  if (role.empty() || role == "master") return Step::more;
  refuse("the Sentinels name it as the master, and it is a replica");
  cause_ = Cause::read_only;
  return Step::refused;
}

Handshake::Step Handshake::refuse(std::string why) {
  cause_ = Cause::other;
  complaint_ = std::move(why);
  return Step::refused;
}

Handshake::Step Handshake::on_error(Command command, std::string_view text) {
  if (command == Command::script && text.starts_with("NOSCRIPT")) return Step::more;
  Cause cause = redis::cause_of_error(text);
  // Whatever AUTH is refused for ("AUTH called without any password configured", "unknown command"), it means
  // that the credentials do not fit this server.
  if (command == Command::auth && cause == Cause::other) cause = Cause::authentication;
  if (complaint_.empty()) {
    cause_ = cause;
    complaint_ = without_secrets(text);
  }
  if (command == Command::script && is_unknown_command(std::string(text)))
    return refuse("no EVALSHA here (" + without_secrets(text) +
                  "), and without scripts no lock can be given back; name a Redis master that has EVAL and "
                  "EVALSHA, not a proxy without them");
  if (const auto what = shortcoming(command); !what.empty())
    (shortcomings_ += shortcomings_.empty() ? "" : "; ") += what + " (" + without_secrets(text) + ")";
  const bool must_succeed = command == Command::auth || command == Command::select;
  const bool hopeless = cause == Cause::authentication || cause == Cause::max_clients;
  return must_succeed || hopeless ? Step::refused : Step::more;
}

std::string Handshake::shortcoming(Command command) {
  switch (command) {
    case Command::client_id:
      return "no CLIENT ID: what a broken connection left unread is not dropped";
    case Command::info:
      return "no INFO: what a broken connection left unread is not dropped, and a cluster is not noticed";
    case Command::replication:
      return "no INFO: that it is a replica is noticed late";
    case Command::script:
      return "no EVALSHA: locks cannot be extended or given back";
    default:
      return {};
  }
}

core::Reply Handshake::refusal() const {
  const bool definite =
      cause_ == Cause::authentication || cause_ == Cause::permission || cause_ == Cause::read_only;
  return {definite ? core::ReplyKind::failed : core::ReplyKind::unknown, cause_, core::kNoTimeLeft};
}

std::string Handshake::without_secrets(std::string_view text) const {
  return words_without(std::string(text), url_.password);
}

std::string words_without(std::string text, const std::string& password) {
  if (const auto at = text.find(", with args"); at != std::string::npos) text.resize(at);
  if (!password.empty())
    for (auto at = text.find(password); at != std::string::npos; at = text.find(password, at + 3))
      text.replace(at, password.size(), "***");
  return redis::clean_text(text);
}

}  // namespace redlock::uv
