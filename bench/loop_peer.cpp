// What is done in each mode, on one loop: by the library's client, its faces, or the floor under all.
#include "loop_peer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "async_worker.h"
#include "crowd.h"
#include "floor_worker.h"
#include "hold.h"
#include "lock_worker.h"
#include "loop.h"
#include "waiters.h"

namespace redlock::bench {

namespace {

template <class Worker>
int run_batches(Crowd<Worker>& crowd, Samples& samples, Lines& lines) {
  for (std::string line; lines.next(line);) {
    samples = {};
    const int pairs = std::atoi(line.c_str());
    const double cpu = cpu_micros();
    crowd.run(pairs);
    print_batch(samples, (cpu_micros() - cpu) / std::max(1, pairs));
  }
  return 0;
}

// Each line is a number: pairs for each worker, or how many milliseconds all of them want one lock.
template <class Worker>
int run_times(Crowd<Worker>& crowd, const Arguments& a, Samples& samples, Lines& lines) {
  for (std::string line; lines.next(line);) {
    samples = {};
    const int number = std::atoi(line.c_str());
    const Meter meter;
    a.mode == "share" ? crowd.run_for(number * 1e3) : crowd.run(number);
    print_times(samples, meter.wall_us(), meter.cpu_us());
  }
  return 0;
}

template <class Worker>
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
    run_until(done);
    print_operation(i, error.empty() ? "ok" : "fail", held - began, ended - held, error);
  }
  std::puts("DONE");
  std::fflush(stdout);
  return 0;
}

template <class Worker>
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
    run_until(done);
    print_answer(line == "A" ? 'A' : 'R', ok, began, micros_now());
  }
  return 0;
}

bool one_name(const Arguments& a) {
  return a.mode == "contend" || a.mode == "share";
}

template <class Worker>
int run(Arguments a) {
  const bool many = a.mode == "tput" || a.mode == "times" || one_name(a);
  if (!many) a.workers = 1;
  typename Worker::Side side(a);
  Samples samples;
  Lines lines;
  std::string line;
  Crowd<Worker> crowd(side, a, one_name(a), samples);
  crowd.run(crowd.size() == 1 ? a.warm : 2);
  samples = {};
  // As patient as a caller that must have the lock; a fault shows as a long wait, not as a quick refusal.
  Worker patient(side, a, std::chrono::milliseconds{10000});
  print_ready();
  if (a.mode == "batch") return run_batches(crowd, samples, lines);
  if (a.mode == "times" || a.mode == "share") return run_times(crowd, a, samples, lines);
  if (a.mode == "serve") return run_server(patient, a, lines);
  if (!lines.next(line)) return 3;
  if (a.mode == "fault") return run_faults(patient, a);
  const Meter meter;
  crowd.run(a.mode == "tput" ? a.n / a.workers : a.n);
  print_result(a, samples, meter);
  return 0;
}

}  // namespace

int run_loop_peer(const Arguments& a) {
  if (a.mode == "hold") return run_hold(a);
  if (a.mode == "wait") return run_waiters(a);
  if (a.peer == "floor") return run<FloorWorker>(a);
  if (a.peer == "redlock-async") return run<AsyncWorker>(a);
  return a.peer == "redlock-coroutine" ? run<CoroutineWorker>(a) : run<LockWorker>(a);
}

}  // namespace redlock::bench
