// What holders claimed, on one true clock: who held which name, from when, until when. Simulated runs know
// the true clock; runs on real machines use one machine's monotonic clock. The checkers read nothing but
// this.
//
// A claim is what the holder was *told*. A call without an answer may have set keys on nodes, and nobody
// claims anything because of it: it adds no hold, and an extension without an answer leaves the old end in
// force.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::verify {

using TrueTime = std::chrono::microseconds;

enum class Ending : unsigned char {
  open,      // nobody ended it: it counts until its validity is over
  released,  // from the call of release on, whatever the nodes made of it
  lost,      // the holder was told
  died       // the holder's process ended; the dead claim nothing
};
[[nodiscard]] std::string_view to_string(Ending ending);

struct Hold {
  std::string name;
  std::string who;
  std::string token;
  TrueTime granted{0};
  TrueTime until{0};  // the end of validity by the holder's own clocks, as a true time
  TrueTime ended{0};  // meaningful unless `ending` is open
  Ending ending = Ending::open;
  std::uint64_t fencing = 0;  // 0: the lease came without a fencing token

  // Half open: a hold that ends at an instant and one that begins there touch and do not overlap.
  [[nodiscard]] TrueTime end() const { return ending == Ending::open || until < ended ? until : ended; }
};

class History {
 public:
  void granted(TrueTime at, std::string who, std::string name, std::string token, TrueTime until);
  // The rest name a hold by its token; a token that was never granted is ignored, the call had no answer.
  // A claim never gets shorter by a later word: what was promised was relied on.
  void extended(const std::string& token, TrueTime until);
  void fenced(const std::string& token, std::uint64_t fencing);
  void ended(TrueTime at, const std::string& token, Ending how);
  void died(TrueTime at, const std::string& who);

  [[nodiscard]] const std::vector<Hold>& holds() const { return holds_; }

 private:
  std::vector<Hold> holds_;
  std::map<std::string, std::size_t, std::less<>> by_token_;
};

// The holds as a table, a line each, in the order given.
[[nodiscard]] std::string table(const std::vector<Hold>& holds);
// 12.345678, seconds.
[[nodiscard]] std::string seconds(TrueTime at);

}  // namespace redlock::verify
