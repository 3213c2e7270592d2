// Everything that happens, as one number (two runs of a seed must agree on it) and, when asked for, as text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/time.h"
#include "verify/history.h"

namespace redlock::sim {

class Trace {
 public:
  explicit Trace(bool keep) : keep_(keep) {}

  template <class... Parts>
  void operator()(core::Micros at, std::string_view what, const Parts&... parts) {
    mix(static_cast<std::uint64_t>(at.count()));
    mix_text(what);
    (mix_part(parts), ...);
    if (!keep_) return;
    std::string line = verify::seconds(at) + "  " + std::string(what);
    ((line += ' ', append(line, parts)), ...);
    lines_.push_back(std::move(line));
  }

  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001B3ULL + (hash_ >> 29U); }
  void mix_text(std::string_view text) {
    mix(text.size());
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), sizeof(std::uint64_t)))) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, text.data(), std::min(text.size(), sizeof(eight)));
      mix(eight);
    }
  }
  template <class Part>
  void mix_part(const Part& part) {
    if constexpr (std::is_integral_v<Part>) {
      mix(static_cast<std::uint64_t>(part));
    } else {
      mix_text(part);
    }
  }
  template <class Part>
  static void append(std::string& line, const Part& part) {
    if constexpr (std::is_integral_v<Part>) {
      line += std::to_string(part);
    } else {
      line += std::string_view(part);
    }
  }

  bool keep_;
  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
  std::vector<std::string> lines_;
};

}  // namespace redlock::sim
