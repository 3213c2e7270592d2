// Rule L5 where nothing fails: those who queue for a lock get it in about the order in which they came, a
// lock that is free goes to somebody soon, and nobody waits while others have had it again and again.
//
// Who came first is only told apart by nodes, whose clocks and whose ways differ, and whoever is not listened
// to yet is passed over. So those who came at about the same time have no order, and others may be overtaken
// now and then; the bounds say what that is.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "verify/history.h"

namespace redlock::verify {

class Turns {
 public:
  struct Bounds {
    TrueTime apart{100000};  // who came later by more than this came behind
    // By how many who came after him anybody may be overtaken: so many, and a share of those who wait.
    std::size_t overtaken = 4;
    std::size_t of_the_waiting = 2;  // one in so many
    TrueTime free{500000};           // how long a lock may be free while somebody waits
  };
  explicit Turns(Bounds bounds) : bounds_(bounds) {}
  Turns() : Turns(Bounds{}) {}

  void waits(const std::string& name, const std::string& who, TrueTime at);
  void granted(const std::string& name, const std::string& who, TrueTime at);
  // Released or lost: the lock is free.
  void ended(const std::string& name, const std::string& who, TrueTime at);

  // Also, at the end of a history, who waits still.
  [[nodiscard]] std::vector<std::string> faults() const;
  // The most that anybody was overtaken, and the longest that the lock was free; for people.
  [[nodiscard]] std::size_t most_overtaken() const { return most_overtaken_; }
  [[nodiscard]] TrueTime longest_free() const { return longest_free_; }
  [[nodiscard]] std::size_t sections() const { return sections_; }

 private:
  struct Waiting {
    TrueTime came{0};
    std::size_t overtaken = 0;
    std::size_t most = 0;  // that may overtake him
  };
  struct Lock {
    std::map<std::string, Waiting> waiting;
    bool held = false;
    TrueTime idle_since{0};  // nobody has it, and somebody wants it
  };

  Bounds bounds_;
  std::map<std::string, Lock> locks_;
  std::vector<std::string> faults_;
  std::size_t most_overtaken_ = 0;
  TrueTime longest_free_{0};
  std::size_t sections_ = 0;
};

}  // namespace redlock::verify
