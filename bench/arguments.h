// What the benchmark driver is told, and where its results go: options in `--name value` pairs, a READY line,
// lines from the caller as signals, and results a line each. The programs that start drivers of several
// libraries in turn speak this protocol, so that all of them are timed by one rule; bench/README.md lists it.
#pragma once

#include <string>
#include <vector>

#include "samples.h"

namespace redlock::bench {

struct Arguments {
  std::string mode = "lat";  // batch, times, lat, fault, serve, tput, contend, share, hold, wait
  // redlock: the client under all faces; redlock-async: callbacks; redlock-coroutine; redlock-blocking: a
  // thread per worker; floor
  std::string peer = "redlock";
  std::string prefix = "k";
  std::string tls;  // the authority's file: nodes are spoken to in TLS; empty: they are not
  std::vector<int> ports{7101, 7102, 7103, 7104, 7105};
  int n = 2000;  // pairs in all; contend: per worker; hold: leases
  int workers = 64;
  int timeout_ms = 0;  // node timeout, 0: the library's default
  int warm = 50;       // pairs before READY
  int ttl_ms = 10000;
  int guard = 0;    // 1: with the guard on, and max_ttl as short as ttl, which is waited for once
  int fencing = 0;  // 1: with fencing tokens
  int line = 1;     // 0: tries again instead of standing in line
};

// Exits with 64 and a line on what was wrong.
Arguments parse_arguments(int argc, char** argv);

void print_ready();
// One JSON line for lat, tput and contend.
void print_result(const Arguments& arguments, const Samples& samples, const Meter& meter);
// batch: median acquire, median release, processor time per pair, pairs.
void print_batch(const Samples& samples, double cpu_us_per_pair);
// times and share: one JSON line with every single time.
void print_times(const Samples& samples, double wall_us, double cpu_us);
// fault: one operation. `status`: ok, fail (not acquired).
void print_operation(int i, const char* status, double acquire_us, double release_us,
                     const std::string& message);
// serve: 'A' or 'R', success, and when it began and ended, in nanoseconds.
void print_answer(char what, bool ok, double began_us, double ended_us);

}  // namespace redlock::bench
