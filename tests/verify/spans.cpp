// Sweeps over two sorted lists.
#include "verify/spans.h"

#include <algorithm>

namespace redlock::verify {

Spans merged(Spans spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.from < b.from; });
  Spans out;
  for (const auto& span : spans) {
    if (span.from >= span.to) continue;
    if (!out.empty() && span.from <= out.back().to) {
      out.back().to = std::max(out.back().to, span.to);
    } else {
      out.push_back(span);
    }
  }
  return out;
}

Spans common(const Spans& a, const Spans& b) {
  Spans out;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Span both{std::max(a[i].from, b[j].from), std::min(a[i].to, b[j].to)};
    if (both.from < both.to) out.push_back(both);
    a[i].to < b[j].to ? ++i : ++j;
  }
  return out;
}

Spans without(const Spans& a, const Spans& b) {
  Spans out;
  std::size_t j = 0;
  for (const auto& span : a) {
    TrueTime from = span.from;
    while (j < b.size() && b[j].to <= from) ++j;
    for (std::size_t k = j; k < b.size() && b[k].from < span.to; ++k) {
      if (from < b[k].from) out.push_back({from, b[k].from});
      from = std::max(from, b[k].to);
    }
    if (from < span.to) out.push_back({from, span.to});
  }
  return out;
}

bool holds(const Spans& spans, TrueTime at) {
  const auto after = std::upper_bound(spans.begin(), spans.end(), at,
                                      [](TrueTime t, const Span& span) { return t < span.from; });
  return after != spans.begin() && at < std::prev(after)->to;
}

}  // namespace redlock::verify
