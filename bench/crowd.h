// Workers are small state machines: acquire, in its callback release, in that callback the next acquire. The
// loop never waits between the two, so what is timed is the client and the nodes.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "arguments.h"
#include "loop.h"

namespace redlock::bench {

// Many workers at once, each `pairs` times; names differ by worker, or are one for all.
template <class Worker>
class Crowd {
 public:
  Crowd(typename Worker::Side& side, const Arguments& a, bool one_name, Samples& samples)
      : prefix_(a.prefix), one_name_(one_name), samples_(samples) {
    const auto wait = one_name ? std::optional<std::chrono::milliseconds>{} : std::chrono::milliseconds{0};
    for (int i = 0; i < a.workers; ++i)
      members_.push_back({Worker(side, a, wait), one_name ? prefix_ : prefix_ + std::to_string(i), 0, 0});
  }
  void run(int pairs) { run(pairs, kLongestRunMicros); }
  // As often as it goes; who waits at the end waits on until it has had the lock, or the longest waits would
  // be missing.
  void run_for(double micros) { run(std::numeric_limits<int>::max(), micros); }
  [[nodiscard]] std::size_t size() const { return members_.size(); }

 private:
  struct Member {
    Worker worker;
    std::string name;
    int left;
    double began;
  };

  void run(int pairs, double micros) {
    live_ = members_.size();
    finished_ = pairs <= 0;
    give_up_ = micros_now() + micros;
    if (finished_) return;
    for (auto& member : members_) {
      member.left = pairs;
      start(member);
    }
    run_until(finished_);
  }
  void start(Member& member) {
    member.began = micros_now();
    member.worker.acquire(member.name, [this, &member](const std::string& error) {
      const double held = micros_now();
      if (!error.empty()) {
        ++samples_.failed;
        next(member);
        return;
      }
      samples_.acquire.push_back(held - member.began);
      if (one_name_ && holders_++ != 0) ++samples_.overlaps;
      if (one_name_) --holders_;
      member.worker.release([this, &member, held](bool) {
        samples_.release.push_back(micros_now() - held);
        ++samples_.done;
        next(member);
      });
    });
  }
  void next(Member& member) {
    if (--member.left > 0 && micros_now() < give_up_) {
      start(member);
    } else if (--live_ == 0) {
      finished_ = true;
    }
  }

  std::string prefix_;
  bool one_name_;
  Samples& samples_;
  std::vector<Member> members_;
  std::size_t live_ = 0;
  int holders_ = 0;
  double give_up_ = 0;
  bool finished_ = false;
};

}  // namespace redlock::bench
