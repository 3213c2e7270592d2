// Names for which the last caller had to stand in line. Whoever comes next for one of them stands in line at
// once: an attempt in between would be refused, at the cost of a round trip and of a request to each node. It
// is only remembered for a moment, and a mistake either way costs no more than that.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/time.h"

namespace redlock::client {

class Contended {
 public:
  static constexpr core::Micros kRemembered{1000000};
  static constexpr std::size_t kMost = 1024;

  void forget(std::string_view name) {
    if (names_.empty()) return;
    if (const auto found = names_.find(name); found != names_.end()) names_.erase(found);
  }
  void note(std::string_view name, core::Instant now) {
    const auto found = names_.find(name);
    if (found != names_.end()) {
      found->second = now + kRemembered;
      return;
    }
    if (names_.size() >= kMost)
      std::erase_if(names_, [&](const auto& item) { return core::passed(item.second, now); });
    if (names_.size() < kMost) names_.emplace(name, now + kRemembered);
  }

  [[nodiscard]] bool has(std::string_view name, core::Instant now) const {
    const auto found = names_.find(name);
    return found != names_.end() && !core::passed(found->second, now);
  }

  [[nodiscard]] bool empty() const { return names_.empty(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  std::unordered_map<std::string, core::Instant, Hash, std::equal_to<>> names_;
};

}  // namespace redlock::client
