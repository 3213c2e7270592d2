// Sets of instants, as sorted spans that neither touch nor overlap. Half open: [from, to).
#pragma once

#include <vector>

#include "verify/history.h"

namespace redlock::verify {

struct Span {
  TrueTime from{0};
  TrueTime to{0};
  friend bool operator==(const Span&, const Span&) = default;
};
using Spans = std::vector<Span>;

// In order, empty ones left out, what touches made one.
[[nodiscard]] Spans merged(Spans spans);
// The rest take merged spans only, and return such.
[[nodiscard]] Spans common(const Spans& a, const Spans& b);
[[nodiscard]] Spans without(const Spans& a, const Spans& b);
[[nodiscard]] bool holds(const Spans& spans, TrueTime at);

}  // namespace redlock::verify
