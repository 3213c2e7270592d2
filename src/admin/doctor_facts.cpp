// See doctor_facts.h. A handful of round trips, each to all nodes at once. Whatever a node refuses to tell is
// kept as a refusal, since whoever may lock need not be allowed to look.
#include "admin/doctor_facts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "admin/acl_rules.h"
#include "redis/codec.h"
#include "redis/info.h"
#include "redlock/name.h"
#include "redlock/node_url.h"

namespace redlock::admin {
namespace {

using Type = redis::Value::Type;

constexpr std::array<std::string_view, 6> kConfig = {
    "min-replicas-to-write", "min-replicas-max-lag", "appendonly",
    "appendfsync",           "repl-backlog-ttl",     "io-threads"};
// The lives of so many keys are looked at on a node; faults are rarely alone.
constexpr std::size_t kMostKeys = 2000;

// What a lock user could do to locks that are not its own, or to the server's time.
struct Dangerous {
  std::vector<std::string_view> words;  // a call that ACL DRYRUN accepts
  std::vector<std::string_view> categories;
};
const std::array<Dangerous, 3>& dangerous_commands() {
  static const auto& commands = *new std::array<Dangerous, 3>{{
      {{"flushall"}, {"keyspace", "write", "slow", "dangerous"}},
      {{"keys", "*"}, {"keyspace", "read", "slow", "dangerous"}},
      {{"debug", "sleep", "0"}, {"admin", "slow", "dangerous"}},
  }};
  return commands;
}

std::string refusal(const Answer& answer, std::size_t at) {
  if (!answer.whole()) return words_of(answer.raw.cause, answer.raw.text);
  return redis::clean_text(answer.raw.values[at].text);
}

void read_config(const Answer& answer, NodeFacts& node) {
  for (std::size_t i = 0; i < kConfig.size(); ++i) {
    if (!answer.whole() || answer.raw.values[i].type != Type::array) {
      node.config_refusal = refusal(answer, i);
      return;
    }
    const auto& items = answer.raw.values[i].items;  // empty: a server that knows no such setting
    if (items.size() == 2) node.config[std::string(kConfig[i])] = items[1].text;
  }
}

void read_dry_runs(const Answer& answer, NodeFacts& node) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < dangerous_commands().size(); ++i) {
    if (!answer.whole() || answer.raw.values[i].type == Type::error) {
      node.rights_refusal = refusal(answer, i);
      return;
    }
    if (answer.raw.values[i].type == Type::status) found.emplace_back(dangerous_commands()[i].words.front());
  }
  node.dangerous = std::move(found);
}

// Before 7.0 the rules are read instead.
void read_user(const Answer& answer, NodeFacts& node) {
  if (!answer.whole() || answer.raw.values.front().type != Type::array) return;
  const auto& items = answer.raw.values.front().items;
  const auto name = std::find_if(items.begin(), items.end(),
                                 [](const redis::Value& value) { return value.text == "commands"; });
  if (name == items.end() || name + 1 == items.end()) return;
  node.dangerous.emplace();
  for (const Dangerous& each : dangerous_commands())
    if (allowed_by_rules((name + 1)->text, each.words.front(), each.categories))
      node.dangerous->emplace_back(each.words.front());
}

// Of a URL that can be read; a Sentinel's own login stays, it opens no node.
std::string without_login(std::string url) {
  const auto begin = url.find("://") + 3;
  const auto at = url.find('@', begin);
  if (at != std::string::npos) url.erase(begin, at + 1 - begin);
  return url;
}

class Gathering {
 public:
  Gathering(const ClientOptions& options, OneShot& shot) : options_(options), shot_(shot) {}

  std::vector<NodeFacts> run(const DoctorOptions& call) {
    auto looks = look_at_nodes(shot_, options_);
    nodes_.resize(looks.size());
    known_.resize(looks.size());
    for (std::size_t i = 0; i < looks.size(); ++i) {
      known_[i] = looks[i].known();
      nodes_[i].look = std::move(looks[i]);
    }
    const auto clocks = read_clocks_of_nodes(shot_, options_, known_);
    auto scans = scan_locks(shot_, options_, known_);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].clock = clocks[i];
      nodes_[i].scan = std::move(scans[i]);
    }
    ask_lives();
    ask_config();
    ask_rights(call.lock_user);
    knock();
    return std::move(nodes_);
  }

 private:
  // `make` fills a node's question; `read` gets its answer.
  template <class Make, class Read>
  void each(Make&& make, Read&& read) {
    std::vector<Question> questions(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (known_[i]) make(nodes_[i], questions[i]);
    const auto answers = ask(shot_, questions, options_.connect_timeout);
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (questions[i].replies > 0) read(nodes_[i], answers[i]);
  }

  void ask_lives() {
    each(
        [](NodeFacts& node, Question& question) {
          node.scan.cut = node.scan.cut || node.scan.keys.size() > kMostKeys;
          node.scan.keys.resize(std::min(node.scan.keys.size(), kMostKeys));
          for (const auto& key : node.scan.keys) question.add({"PTTL", key});
        },
        [](NodeFacts& node, const Answer& answer) {
          if (!answer.whole()) return;
          for (std::size_t k = 0; k < node.scan.keys.size(); ++k) {
            const redis::Value& life = answer.raw.values[k];
            if (life.type != Type::integer || life.integer == -2) continue;  // gone meanwhile
            node.lives.push_back({node.scan.keys[k], life.integer < 0
                                                         ? std::nullopt
                                                         : std::optional(core::Millis{life.integer})});
          }
        });
  }

  void ask_config() {
    each(
        [](NodeFacts&, Question& question) {
          for (const auto name : kConfig) question.add({"CONFIG", "GET", name});
        },
        [](NodeFacts& node, const Answer& answer) { read_config(answer, node); });
  }

  void ask_rights(const std::string& lock_user) {
    each(
        [](NodeFacts&, Question& question) {
          question.add({"ACL", "WHOAMI"});
        },
        [&](NodeFacts& node, const Answer& answer) {
          node.user = lock_user;
          const bool told = answer.whole() && answer.raw.values.front().type == Type::bulk;
          if (lock_user.empty() && told) node.user = answer.raw.values.front().text;
          if (node.user.empty()) node.rights_refusal = refusal(answer, 0);
        });
    each(
        [](NodeFacts& node, Question& question) {
          if (node.user.empty()) return;
          for (const Dangerous& command : dangerous_commands()) {
            std::vector<std::string_view> words = {"ACL", "DRYRUN", node.user};
            words.insert(words.end(), command.words.begin(), command.words.end());
            question.add(words);
          }
        },
        [](NodeFacts& node, const Answer& answer) { read_dry_runs(answer, node); });
    each(
        [](NodeFacts& node, Question& question) {
          if (!node.user.empty() && !node.dangerous) question.add({"ACL", "GETUSER", node.user});
        },
        [](NodeFacts& node, const Answer& answer) { read_user(answer, node); });
  }

  // Without a login and without a certificate: does it serve us? Sockets have file permissions instead.
  void knock() {
    ClientOptions stranger = without_guard(options_);
    stranger.nodes.clear();
    stranger.user.reset();
    stranger.password.reset();
    stranger.password_file.reset();
    stranger.tls.certificate_file.clear();
    stranger.tls.key_file.clear();
    stranger.log = nullptr;
    std::vector<std::size_t> places;
    bool with_tls = false;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto url = parse_node_url(options_.nodes[i]);
      if (!known_[i] || !url || url->transport == NodeUrl::Transport::unix_socket) continue;
      with_tls = with_tls || url->tls;
      stranger.nodes.push_back(without_login(options_.nodes[i]));
      places.push_back(i);
    }
    if (!with_tls) stranger.tls = {};
    if (places.empty()) return;
    auto shot = OneShot::open(stranger);
    if (!shot) return;
    const auto answers = ask_all(*shot, Question().add({"PING"}), options_.connect_timeout);
    for (std::size_t k = 0; k < places.size(); ++k)
      nodes_[places[k]].open = answers[k].whole() && answers[k].raw.values.front().type == Type::status;
  }

  const ClientOptions& options_;
  OneShot& shot_;
  std::vector<NodeFacts> nodes_;
  std::vector<bool> known_;
};

}  // namespace

std::vector<NodeFacts> gather_facts(const ClientOptions& options, OneShot& shot, const DoctorOptions& call) {
  return Gathering(options, shot).run(call);
}

}  // namespace redlock::admin
