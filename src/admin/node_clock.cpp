// See node_clock.h.
#include "admin/node_clock.h"

#include <algorithm>

#include "redis/codec.h"
#include "redis/info.h"

namespace redlock::admin {
namespace {

constexpr int kSamples = 4;

// The offset lies between what it were if the answer had taken no time and if the question had.
std::optional<NodeClock> read(const Answer& answer) {
  using Type = redis::Value::Type;
  if (!answer.whole()) return std::nullopt;
  const redis::Value& value = answer.raw.values.front();
  if (value.type != Type::array || value.items.size() != 2) return std::nullopt;
  const auto seconds = redis::parse_number<std::int64_t>(value.items[0].text);
  const auto micros = redis::parse_number<std::int64_t>(value.items[1].text);
  constexpr std::int64_t kMostSeconds = 1LL << 40U;
  if (!seconds || !micros || *seconds < 0 || *seconds > kMostSeconds || *micros < 0 || *micros > 999999)
    return std::nullopt;
  const core::Micros time{*seconds * 1000000 + *micros};
  const core::Micros low = time - answer.received, high = time - answer.asked;
  return NodeClock{low + (high - low) / 2, (high - low + core::Micros{1}) / 2, answer.raw.elapsed};
}

}  // namespace

std::vector<std::optional<NodeClock>> read_clocks_of_nodes(OneShot& shot, const ClientOptions& options,
                                                           const std::vector<bool>& wanted) {
  std::vector<Question> questions(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) questions[i].add({"TIME"});
  std::vector<std::optional<NodeClock>> best(wanted.size());
  for (int sample = 0; sample < kSamples; ++sample) {
    const auto answers = ask(shot, questions, options.connect_timeout);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto seen = wanted[i] ? read(answers[i]) : std::nullopt;
      if (!seen) continue;
      if (!best[i]) best[i] = seen;
      best[i]->round_trip = std::min(best[i]->round_trip, seen->round_trip);
      if (seen->uncertainty < best[i]->uncertainty) {
        best[i]->offset = seen->offset;
        best[i]->uncertainty = seen->uncertainty;
      }
    }
  }
  return best;
}

}  // namespace redlock::admin
