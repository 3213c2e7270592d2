// What must be so once faults have stopped. Progress: everybody can take every name, and everything comes to
// rest. Leftovers, rule L3: no key stays on a node, but of those who could not remove it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "verify/promises.h"

namespace redlock::verify {

class Progress {
 public:
  // A call that must succeed, since nothing fails any more.
  void expects(const std::string& who, const std::string& what) { ++missing_[{who, what}]; }
  void succeeded(const std::string& who, const std::string& what);
  // What has not come to rest in its time.
  void stuck(std::string what) { stuck_.push_back(std::move(what)); }

  [[nodiscard]] bool done() const { return missing_.empty(); }
  [[nodiscard]] std::vector<std::string> faults() const;

 private:
  std::map<std::pair<std::string, std::string>, int> missing_;
  std::vector<std::string> stuck_;
};

class Leftovers {
 public:
  // Its keys end by themselves: its holder died or detached it, or nobody could know of them.
  void excuse(TokenId owner) { excused_.insert(owner); }
  void found(const std::string& node, const std::string& key, TokenId owner);

  [[nodiscard]] std::vector<std::string> faults() const;

 private:
  struct Key {
    std::string node;
    std::string key;
    TokenId owner;
  };
  std::set<TokenId> excused_;
  std::vector<Key> keys_;
};

}  // namespace redlock::verify
