// See search.h. A state of the real machines is some kilobytes and there are millions of them, so only the
// way to a state is stored (its parent and the step from there) and states are made again by walking it;
// neighbours share most of their way.
#include "sim/search/search.h"

#include <algorithm>
#include <memory>

#include "sim/search/model.h"

namespace redlock::search {
namespace {

// An open hash table of fingerprints; 64 bits make a collision among ten million states a matter of one in
// hundreds of thousands.
class Seen {
 public:
  Seen() : slots_(std::size_t{1} << 16U) {}
  // False if it was there.
  bool add(std::uint64_t fingerprint) {
    if (fingerprint == 0) fingerprint = 1;
    if (++used_ * 2 > slots_.size()) grow();
    std::uint64_t& slot = find(slots_, fingerprint);
    if (slot == fingerprint) {
      --used_;
      return false;
    }
    slot = fingerprint;
    return true;
  }

 private:
  static std::uint64_t& find(std::vector<std::uint64_t>& slots, std::uint64_t fingerprint) {
    std::size_t i = fingerprint & (slots.size() - 1);
    while (slots[i] != 0 && slots[i] != fingerprint) i = (i + 1) & (slots.size() - 1);
    return slots[i];
  }
  void grow() {
    std::vector<std::uint64_t> bigger(slots_.size() * 2);
    for (const auto fingerprint : slots_)
      if (fingerprint != 0) find(bigger, fingerprint) = fingerprint;
    slots_ = std::move(bigger);
  }
  std::vector<std::uint64_t> slots_;
  std::size_t used_ = 0;
};

struct Way {
  std::uint32_t parent = 0;
  Step step;
};

// Makes states again. Keeps the last way with the states along it.
class Walker {
 public:
  Walker(const Model& model, const std::vector<Way>& ways) : model_(model), ways_(ways) {
    states_.push_back(std::make_unique<State>());
    model_.begin(*states_.front());
  }

  const State& at(std::uint32_t index) {
    way_.clear();
    for (auto i = index; i != 0; i = ways_[i].parent) way_.push_back(i);
    std::reverse(way_.begin(), way_.end());
    std::size_t shared = 0;
    while (shared < way_.size() && shared < path_.size() && way_[shared] == path_[shared]) ++shared;
    path_.resize(shared);
    for (; shared < way_.size(); ++shared) {
      if (shared + 1 == states_.size()) states_.push_back(std::make_unique<State>());
      model_.copy(*states_[shared], *states_[shared + 1]);
      model_.apply(*states_[shared + 1], ways_[way_[shared]].step);
      path_.push_back(way_[shared]);
    }
    return *states_[way_.size()];
  }

 private:
  const Model& model_;
  const std::vector<Way>& ways_;
  std::vector<std::uint32_t> way_;
  std::vector<std::uint32_t> path_;
  std::vector<std::unique_ptr<State>> states_;
};

std::vector<std::string> tell(const Model& model, const std::vector<Way>& ways, std::uint32_t index) {
  std::vector<Step> steps;
  for (auto i = index; i != 0; i = ways[i].parent) steps.push_back(ways[i].step);
  std::reverse(steps.begin(), steps.end());
  std::vector<std::string> lines;
  auto state = std::make_unique<State>();
  model.begin(*state);
  for (const auto& step : steps) {
    model.apply(*state, step);
    lines.push_back(model.describe(step, *state));
  }
  return lines;
}

}  // namespace

Result search(const Bounds& bounds, std::uint64_t most_states, const Progress& progress) {
  const Model model(bounds);
  Result result;
  Seen seen;
  std::vector<Way> ways(1);
  Walker walker(model, ways);
  auto next = std::make_unique<State>();
  model.begin(*next);
  seen.add(model.fingerprint(*next));
  std::vector<Step> steps;
  std::uint32_t level_end = 1;
  for (std::uint32_t i = 0; i < ways.size(); ++i) {
    if (i == level_end) {
      ++result.depth;
      level_end = static_cast<std::uint32_t>(ways.size());
    }
    result.states = ways.size();
    if (ways.size() > most_states) return result;
    if (progress && i % 65536 == 0) progress(ways.size(), i, result.depth);
    const State& state = walker.at(i);
    if (model.settled(state)) continue;
    model.steps(state, steps);
    for (const Step& step : steps) {
      model.copy(state, *next);
      model.apply(*next, step);
      if (!seen.add(model.fingerprint(*next))) continue;
      ways.push_back({i, step});
      if (!model.two_holders(*next)) continue;
      result.states = ways.size();
      result.history = tell(model, ways, static_cast<std::uint32_t>(ways.size() - 1));
      result.depth = result.history.size();
      return result;
    }
  }
  result.complete = true;
  return result;
}

}  // namespace redlock::search
