// Workers are small state machines: acquire, in its callback release, in that callback the next acquire. The
// loop never waits between the two, so what is timed is the client and the nodes.
#include "loop_peer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "loop_side.h"

namespace redlock::bench {

namespace {

constexpr double kLongestRunMicros = 45e6;  // callers give up soon after

// Many workers at once, each `pairs` times; names differ by worker, or are one for all.
class Crowd {
 public:
  Crowd(Side& side, const Arguments& a, bool one_name, Samples& samples)
      : prefix_(a.prefix), one_name_(one_name), samples_(samples) {
    const auto wait = one_name ? std::optional<core::Millis>{} : core::Millis{0};
    const int workers = a.mode == "tput" || a.mode == "contend" ? a.workers : 1;
    for (int i = 0; i < workers; ++i)
      members_.push_back({{side.client(), acquire_options(a, wait)},
                          one_name ? prefix_ : prefix_ + std::to_string(i),
                          0,
                          0});
  }
  void run(int pairs) {
    live_ = members_.size();
    finished_ = pairs <= 0;
    give_up_ = micros_now() + kLongestRunMicros;
    if (finished_) return;
    for (auto& member : members_) {
      member.left = pairs;
      start(member);
    }
    Side::run_until(finished_);
  }
  [[nodiscard]] std::size_t size() const { return members_.size(); }

 private:
  struct Member {
    Worker worker;
    std::string name;
    int left;
    double began;
  };

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

int run_batches(Crowd& crowd, Samples& samples, Lines& lines) {
  for (std::string line; lines.next(line);) {
    samples = {};
    const int pairs = std::atoi(line.c_str());
    const double cpu = cpu_micros();
    crowd.run(pairs);
    print_batch(samples, (cpu_micros() - cpu) / std::max(1, pairs));
  }
  return 0;
}

int run_faults(Worker& worker, const Arguments& a) {
  for (int i = 0; i < a.n; ++i) {
    bool done = false;
    std::string error;
    const double began = micros_now();
    double held = began;
    double ended = began;
    worker.acquire(a.prefix + std::to_string(i), [&](const std::string& why) {
      held = ended = micros_now();
      error = why;
      if (!why.empty()) {
        done = true;
        return;
      }
      worker.release([&](bool) {
        ended = micros_now();
        done = true;
      });
    });
    Side::run_until(done);
    print_operation(i, error.empty() ? "ok" : "fail", held - began, ended - held, error);
  }
  std::puts("DONE");
  std::fflush(stdout);
  return 0;
}

int run_server(Worker& worker, const Arguments& a, Lines& lines) {
  for (std::string line; lines.next(line);) {
    bool done = false;
    bool ok = false;
    const double began = micros_now();
    if (line == "A") {
      worker.acquire(a.prefix, [&](const std::string& error) {
        ok = error.empty();
        done = true;
      });
    } else {
      worker.release([&](bool released) {
        ok = released;
        done = true;
      });
    }
    Side::run_until(done);
    print_answer(line == "A" ? 'A' : 'R', ok, began, micros_now());
  }
  return 0;
}

}  // namespace

int run_loop_peer(const Arguments& a) {
  Side side(a);
  Samples samples;
  Lines lines;
  std::string line;
  Crowd crowd(side, a, a.mode == "contend", samples);
  crowd.run(crowd.size() == 1 ? a.warm : 2);
  samples = {};
  print_ready();
  if (a.mode == "batch") return run_batches(crowd, samples, lines);
  // As patient as a caller that must have the lock; a fault shows as a long wait, not as a quick refusal.
  Worker patient(side.client(), acquire_options(a, core::Millis{10000}));
  if (a.mode == "serve") return run_server(patient, a, lines);
  if (!lines.next(line)) return 3;
  if (a.mode == "fault") return run_faults(patient, a);
  const Meter meter;
  crowd.run(a.mode == "tput" ? a.n / a.workers : a.n);
  print_result(a, samples, meter);
  return 0;
}

}  // namespace redlock::bench
