// Plays the steps of a scenario: a Client on a host whose nodes and time are moved by the script. What the
// client does comes out as lines.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "client/fake_host.h"
#include "scenarios/script.h"

namespace redlock::scenarios {

// A word that is not in the grammar, or a step that makes no sense here.
struct BadStep : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Stage {
 public:
  // Does all parts of the step in one turn, then whatever follows without time passing. Returns what came of
  // it.
  std::vector<std::string> play(const Step& step);
  // At the end of a scenario: what is still owed by the client, empty when nothing is.
  [[nodiscard]] std::string unanswered() const;

 private:
  using Words = std::vector<std::string>;
  struct Caller {
    client::CallId call{};
    int owed = 0;
    Error last;
  };

  void play_part(const Words& words);
  void configure(const Words& words);
  void call(const std::string& who, const Words& words);
  void acquire(const std::string& who, const Words& words);
  void extend(const std::string& who, const Words& words);
  void by_token(const std::string& who, const Words& words);
  void why(const std::string& who);
  void nodes_do(const Words& words);
  void line(core::Node node, const Words& words);
  void node_does(core::Node node, const Words& words);
  void say(std::string line);
  void collect_sent();
  void fail(const std::string& who, const std::string& prefix, const Error& error);
  [[nodiscard]] std::string left(core::Instant end) const;
  client::test::FakeHost& host();

  int nodes_ = 0;
  std::size_t max_waiters_ = 10000;
  bool lines_on_ = false;
  std::unique_ptr<client::test::FakeHost> host_;
  std::map<std::string, Caller> callers_;
  std::vector<std::string> lines_;
  std::size_t seen_ = 0;  // of host_->sent
};

}  // namespace redlock::scenarios
