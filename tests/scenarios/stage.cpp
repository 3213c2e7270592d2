// The verbs of the little language; see README.md and stage.h.
#include "scenarios/stage.h"

#include <array>
#include <charconv>

#include "redlock/duration.h"

namespace redlock::scenarios {
namespace {

using core::Reply;
using core::ReplyKind;

core::Millis duration(const std::string& text) {
  const auto parsed = parse_duration(text);
  if (!parsed) throw BadStep(parsed.error());
  return *parsed;
}

int number(const std::string& text) {
  int value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) throw BadStep("'" + text + "' is no number");
  return value;
}

Token token(const std::string& text) {
  if (!text.starts_with('t')) throw BadStep("'" + text + "' is no token (t1, t2, ...)");
  return {0, static_cast<std::uint64_t>(number(text.substr(1)))};
}

Cause cause(const std::string& text) {
  for (int i = 0; i <= static_cast<int>(Cause::no_fencing); ++i)
    if (to_string(static_cast<Cause>(i)) == text) return static_cast<Cause>(i);
  throw BadStep("'" + text + "' is no cause");
}

const std::string& word(const std::vector<std::string>& words, std::size_t i) {
  if (i >= words.size()) throw BadStep("a word is missing at the end");
  return words[i];
}

void no_more_than(const std::vector<std::string>& words, std::size_t count) {
  if (words.size() > count) throw BadStep("unknown word '" + words[count] + "'");
}

std::string text_of(const client::test::Sent& sent) {
  static constexpr std::array kNames = {"acquire", "extend", "release", "undo",
                                        "raise",   "enter",  "leave",   "withdraw"};
  const core::Request& request = sent.request;
  std::string text = kNames.at(static_cast<std::size_t>(request.kind));
  text += " " + sent.key.substr(std::string("lock:").size()) + " t" + std::to_string(request.token.low);
  const bool sets = !core::cleans_up(request.kind) && request.kind != core::RequestKind::raise;
  if (sets) text += " " + format_duration(request.ttl);
  if (request.heal) text += " heal";
  if (request.want_time_left) text += " time-left";
  if (request.kind == core::RequestKind::enter)
    text += " renewal " + std::to_string(static_cast<std::uint32_t>(request.renewal));
  if (request.arrival != core::kNoArrival) text += " since " + std::to_string(request.arrival);
  // Who hands over always proposes a value.
  if (request.fencing != core::kNoFencing && !core::cleans_up(request.kind))
    text += " fencing " + std::to_string(request.fencing);
  return text;
}

LockName name(const std::string& text) {
  return *LockName::make(text);
}

}  // namespace

std::vector<std::string> Stage::play(const Step& step) {
  lines_.clear();
  for (const auto& part : step.parts) {
    play_part(words_of(part));
    collect_sent();
  }
  if (host_) host_->finish_turn();
  collect_sent();
  return lines_;
}

std::string Stage::unanswered() const {
  std::string who;
  for (const auto& [name, caller] : callers_)
    if (caller.owed != 0) who += (who.empty() ? "" : ", ") + name;
  return who;
}

client::test::FakeHost& Stage::host() {
  if (!host_) {
    if (nodes_ == 0) throw BadStep("'nodes N' comes first");
    host_ = std::make_unique<client::test::FakeHost>(nodes_, max_waiters_, core::Guard::Setup{},
                                                     lines_on_ ? core::Waiter{1} : core::kNobody);
  }
  return *host_;
}

void Stage::say(std::string line) {
  collect_sent();  // what was sent before it stands before it
  lines_.push_back(std::move(line));
}

// The same request to several nodes is one line.
void Stage::collect_sent() {
  while (host_ && seen_ < host_->sent.size()) {
    const std::string text = text_of(host_->sent[seen_]);
    std::string to;
    int count = 0;
    core::NodeSet already;
    for (; seen_ < host_->sent.size(); ++seen_, ++count) {
      const auto& sent = host_->sent[seen_];
      if (text_of(sent) != text || already.has(sent.node)) break;
      already.add(sent.node);
      to += (to.empty() ? "" : ",") + std::to_string(core::index(sent.node) + 1);
    }
    lines_.push_back((count == 1 ? "node " : "nodes ") + to + ": " + text);
  }
}

std::string Stage::left(core::Instant end) const {
  return std::to_string(std::chrono::floor<core::Millis>(core::remaining(end, host_->time)).count()) + "ms";
}

void Stage::fail(const std::string& who, const std::string& prefix, const Error& error) {
  callers_[who].last = error;
  std::string line = who + ": " + prefix + std::string(to_string(error.code));
  if (error.time_left) line += ", " + format_duration(*error.time_left) + " left";
  say(std::move(line));
}

void Stage::play_part(const Words& words) {
  const std::string& verb = word(words, 0);
  if (verb == "nodes" && words.size() == 2 && !host_) return configure(words);
  if (verb == "max-waiters" || verb == "lines") return configure(words);
  if (verb.ends_with(':')) return call(verb.substr(0, verb.size() - 1), words);
  if (verb == "node" || verb == "nodes") return nodes_do(words);
  if (verb == "wait" || verb == "stopped" || verb == "suspended") {
    no_more_than(words, 2);
    const core::Micros how_long{duration(word(words, 1))};
    if (verb == "wait") return host().advance(how_long);
    return host().stop(how_long, verb == "stopped" ? how_long : core::Micros{0});
  }
  no_more_than(words, 1);
  if (verb == "wakes") return host().wake();
  if (verb == "close") return host().client->close();
  if (verb == "quiet?") return say(host().client->quiet() ? "quiet" : "not quiet");
  throw BadStep("unknown word '" + verb + "'");
}

void Stage::configure(const Words& words) {
  if (host_) throw BadStep("settings come before the first call");
  no_more_than(words, 2);
  if (words[0] == "lines" && words.size() == 1) {
    lines_on_ = true;
    return;
  }
  const int value = number(word(words, 1));
  if (value < 1) throw BadStep("'" + words[1] + "' is too small");
  if (words[0] == "nodes") {
    nodes_ = value;
  } else {
    max_waiters_ = static_cast<std::size_t>(value);
  }
}

void Stage::call(const std::string& who, const Words& words) {
  const std::string& verb = word(words, 1);
  client::Client& client = *host().client;
  if (verb == "acquire" || verb == "adopt") return acquire(who, words);
  if (verb == "extend") return extend(who, words);
  if (verb == "extend-token" || verb == "release-token") return by_token(who, words);
  no_more_than(words, 2);
  if (verb == "why") return why(who);
  if (!callers_.contains(who)) throw BadStep("'" + who + "' has not called acquire");
  const client::CallId call = callers_[who].call;
  if (verb == "cancel") return client.cancel(call);
  if (verb == "detach") return client.detach(call);
  if (verb != "release") throw BadStep("unknown word '" + verb + "'");
  ++callers_[who].owed;
  client.release(call, [this, who](Released result, const std::vector<NodeReport>&) {
    --callers_[who].owed;
    say(who + ": release " + std::string(to_string(result)));
  });
}

void Stage::acquire(const std::string& who, const Words& words) {
  AcquireOptions options;
  core::Fencing adopted = core::kNoFencing;
  const bool adopting = words[1] == "adopt";
  for (std::size_t i = adopting ? 4 : 3; i < words.size(); ++i) {
    const std::string& option = words[i];
    if (option == "try") {
      options.wait = core::Millis{0};
    } else if (option == "no-watchdog") {
      options.watchdog = false;
    } else if (option == "time-left") {
      options.want_time_left = true;
    } else if (option == "fencing") {
      options.fencing = true;
      if (adopting) adopted = number(word(words, ++i));
    } else {
      const core::Millis value = duration(word(words, ++i));
      if (option == "ttl") {
        options.ttl = value;
      } else if (option == "wait") {
        options.wait = value;
      } else if (option == "min-validity") {
        options.min_validity = value;
      } else if (option == "max-hold") {
        options.max_hold = value;
      } else {
        throw BadStep("unknown word '" + option + "'");
      }
    }
  }
  client::LeaseEvents events;
  events.extended = [this, who](core::Instant end) { say(who + ": renewed, " + left(end) + " left"); };
  events.lost = [this, who](const Error& error) { fail(who, "", error); };
  auto done = [this, who](expected<client::Granted, Error> result) {
    --callers_[who].owed;
    if (!result) return fail(who, "", result.error());
    std::string line = who + ": granted t" + std::to_string(result->token.low) + ", ";
    if (result->fencing != core::kNoFencing) line += "fencing " + std::to_string(result->fencing) + ", ";
    say(line + left(result->valid_until) + " left");
  };
  client::Client& client = *host().client;
  const LockName lock = name(word(words, 2));
  auto started = adopting ? client.adopt(lock, token(word(words, 3)), adopted, options, std::move(done),
                                         std::move(events))
                          : client.acquire(lock, options, std::move(done), std::move(events));
  if (!started) return fail(who, "refused, ", started.error());
  callers_[who].call = *started;
  ++callers_[who].owed;
}

void Stage::extend(const std::string& who, const Words& words) {
  no_more_than(words, 3);
  if (!callers_.contains(who)) throw BadStep("'" + who + "' has not called acquire");
  std::optional<core::Millis> ttl;
  if (words.size() == 3) ttl = duration(words[2]);
  const auto started =
      host().client->extend(callers_[who].call, ttl, [this, who](expected<core::Instant, Error> end) {
        --callers_[who].owed;
        if (!end) return fail(who, "not extended, ", end.error());
        say(who + ": extended, " + left(*end) + " left");
      });
  if (!started) return fail(who, "refused, ", started.error());
  ++callers_[who].owed;
}

void Stage::by_token(const std::string& who, const Words& words) {
  const LockName lock = name(word(words, 2));
  const Token owner = token(word(words, 3));
  ++callers_[who].owed;
  if (words[1] == "release-token") {
    no_more_than(words, 4);
    return host().client->release_by_token(lock, owner, [this, who](Released result, const auto&) {
      --callers_[who].owed;
      say(who + ": release " + std::string(to_string(result)));
    });
  }
  no_more_than(words, 5);
  host().client->extend_by_token(lock, owner, duration(word(words, 4)),
                                 [this, who](const expected<core::Instant, Error>& end, const auto&) {
                                   --callers_[who].owed;
                                   if (!end) return fail(who, "not extended, ", end.error());
                                   say(who + ": extended, " + left(*end) + " left");
                                 });
}

void Stage::why(const std::string& who) {
  for (const NodeReport& report : callers_[who].last.nodes) {
    std::string line = report.node + " " + std::string(to_string(report.vote));
    if (report.cause != Cause::none) line += " " + std::string(to_string(report.cause));
    say(std::move(line));
  }
}

void Stage::nodes_do(const Words& words) {
  std::string list = word(words, 1);
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto comma = std::min(list.find(',', begin), list.size());
    const int which = number(list.substr(begin, comma - begin));
    if (which < 1 || which > nodes_) throw BadStep("there is no node " + std::to_string(which));
    host();
    node_does(core::node_at(which - 1), {words.begin() + 2, words.end()});
    begin = comma + 1;
  }
}

// What comes of a place in the line.
void Stage::line(core::Node node, const Words& words) {
  if (words[0] == "queues") {
    no_more_than(words, 6);
    Reply reply{ReplyKind::held, Cause::none, duration(word(words, 2))};
    reply.arrival = number(word(words, 4));
    reply.after = words.size() > 5 && words[5] == "after";
    reply.holder = reply.after ? 2 : 1;
    if (words[1] != "left" || words[3] != "since" || (words.size() > 5 && !reply.after))
      throw BadStep("queues left D since N [after]");
    if (!host_->answer(node, reply))
      throw BadStep("node " + std::to_string(core::index(node) + 1) + " has nothing to answer");
    return;
  }
  no_more_than(words, 7);
  if (word(words, 1) != "over" || word(words, 4) != "renewal")
    throw BadStep("hands over NAME tN renewal N [F]");
  const std::string key = "lock:" + words[2];
  core::Notice notice{token(words[3]), static_cast<core::Round>(number(word(words, 5))), core::kNoFencing};
  if (words.size() > 6) notice.fencing = number(words[6]);
  host_->tell([&](client::Client& client) { client.on_notice(node, key, notice, nullptr); });
}

void Stage::node_does(core::Node node, const Words& words) {
  const std::string& verb = word(words, 0);
  const bool has_more =
      verb == "grants" || verb == "refuses" || verb == "fails" || verb == "times" || verb == "breaks";
  if (verb == "hands" || verb == "queues") return line(node, words);
  no_more_than(words, has_more ? 3 : 1);
  if (verb == "listens") return host_->tell([&](client::Client& client) { client.on_listening(node, true); });
  if (verb == "breaks") return host_->break_connection(node);
  if (verb == "never-connects") return host_->break_connection(node, Cause::connecting);
  if (verb == "up") return host_->node_up(node);
  Reply reply;
  if (verb == "grants" || verb == "deletes") {
    reply.kind = ReplyKind::granted;
    if (words.size() > 1) reply.fencing = number(word(words, 1));
  } else if (verb == "misses") {
    reply.kind = ReplyKind::missing;
  } else if (verb == "refuses") {
    reply.kind = ReplyKind::held;
    if (words.size() > 1) {
      if (words[1] != "left") throw BadStep("unknown word '" + words[1] + "'");
      reply.time_left = duration(word(words, 2));
    }
  } else if (verb == "fails") {
    reply = {ReplyKind::failed, cause(word(words, 1)), core::kNoTimeLeft};
  } else if (verb == "times") {
    if (word(words, 1) != "out") throw BadStep("unknown word '" + words[1] + "'");
    reply.cause = Cause::timed_out;
  } else if (verb == "overflows") {
    reply.cause = Cause::backlog;
  } else {
    throw BadStep("unknown word '" + verb + "'");
  }
  if (!host_->answer(node, reply))
    throw BadStep("node " + std::to_string(core::index(node) + 1) + " has nothing to answer");
}

}  // namespace redlock::scenarios
