// What holders are promised and told, rule by rule: S2 (no end beyond T0 + ttl − drift of the round that won,
// and some validity left at the grant), S3 (an extension neither shortens nor revives, and nothing raises a
// key's life after its clean-up began), S4 (nobody sends for a token of another), S7 (a round promises
// something only with a quorum of votes that may count; rounds of one stay in line do so together, each vote
// until its own end), L4 (the holder hears of the end). Written out here
// and not taken from the core: a rule must not break together with its check.
//
// Two kinds of time: what the holder's two clocks read, and its own time, true time less what was taken from
// its process; what a stopped process did not do in time is nobody's fault.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "verify/history.h"

namespace redlock::verify {

// A lock's token; of simulated ones: process and attempt.
struct TokenId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const TokenId&, const TokenId&) = default;
};
[[nodiscard]] std::string brief(TokenId token);

// Validity is over when either says so.
struct TwoClocks {
  TrueTime boot{0};
  TrueTime raw{0};
  friend bool operator==(const TwoClocks&, const TwoClocks&) = default;
};

class Promises {
 public:
  struct RoundId {
    std::uint64_t slot = 0;
    std::uint64_t generation = 0;
    std::uint64_t round = 0;
    friend bool operator==(const RoundId&, const RoundId&) = default;
  };
  enum class Kind : unsigned char {
    vote,     // acquire, extend: promises a life
    stand,    // the same of a place in line: its votes count together with those of other such rounds
    confirm,  // raises a counter under a key, promises nothing
    clean_up  // release, undo, leave
  };
  struct Request {
    Kind kind = Kind::vote;
    RoundId round;
    TwoClocks sent;  // T0, if it is the first of its round
    TrueTime ttl{0};
    TrueTime timeout{0};  // how long its node may take
  };
  // What a holder is told.
  struct Word {
    TwoClocks end;   // of validity
    TwoClocks read;  // its clocks, as it read them when it decided
    TrueTime own{0};
    TrueTime due{0};  // its own time by which it must have heard that validity is over
  };
  // Where an end comes from: the one in force, or the first round that may have given it, counted from 0.
  struct Source {
    bool in_force = false;
    std::optional<std::size_t> round;
  };

  Promises(int nodes, std::function<void(std::string)> on_fault)
      : quorum_(static_cast<std::size_t>(nodes / 2 + 1)), fault_(std::move(on_fault)) {}

  // True if a round of votes begins.
  bool sent(const std::string& who, TokenId token, const Request& request);
  void voted(TokenId token, const RoundId& round, int node, bool may_count);

  Source granted(const std::string& who, TokenId token, const Word& word, TrueTime least_left);
  // Nothing: the answer to what was asked before the lease was let go.
  std::optional<Source> extended(const std::string& who, TokenId token, const Word& word);
  // False: it was let go before.
  bool lost(const std::string& who, TokenId token, TrueTime own);
  // By its holder: released, or detached.
  void let_go(const std::string& who, TokenId token);
  // Somebody takes up what was detached, with rounds of its own.
  void adopts(TokenId token);
  void died(const std::string& who);
  // The end of a run: who still holds was told nothing.
  void finish();

 private:
  struct Round {
    RoundId id;
    bool stands = false;
    TwoClocks promise;  // the latest end, on each clock by itself
    std::set<int> votes;
  };
  struct Lease {
    std::string who;
    bool held = false;
    bool let_go = false;
    bool cleaning = false;
    std::vector<Round> rounds;
    TwoClocks end;
    TrueTime due{0};
  };
  Lease* find(const std::string& who, TokenId token, std::string_view what);
  [[nodiscard]] bool carries(const Lease& lease, const Round& round, const TwoClocks& end) const;
  Source learn_end(const std::string& who, Lease& lease, const Word& word, std::string_view what);

  std::size_t quorum_;
  std::function<void(std::string)> fault_;
  std::map<TokenId, Lease> leases_;
};

}  // namespace redlock::verify
