// Options in, lines out. Plain stdio: every line is flushed, since a caller waits for it.
#include "arguments.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sstream>

namespace redlock::bench {

namespace {

[[noreturn]] void usage(const std::string& problem) {
  std::fprintf(stderr,
               "bench_redlock: %s\n"
               "usage: bench_redlock [--mode batch|lat|fault|serve|tput|contend]"
               " [--peer redlock|redlock-blocking|floor]\n"
               "       [--ports P,P,...] [--n N] [--workers N] [--timeout MS] [--warm N] [--ttl MS]"
               " [--prefix P] [--guard 0|1]\n",
               problem.c_str());
  std::exit(64);
}

int number(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 0 || value > 1000000000)
    usage(name + ": a number is needed, not '" + text + "'");
  return static_cast<int>(value);
}

std::vector<int> ports(const std::string& text) {
  std::vector<int> result;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) result.push_back(number("--ports", part));
  if (result.empty()) usage("--ports: at least one is needed");
  return result;
}

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) usage(name + ": no value");
    const std::string value = argv[i + 1];
    if (name == "--mode") {
      a.mode = value;
    } else if (name == "--peer") {
      a.peer = value;
    } else if (name == "--prefix") {
      a.prefix = value;
    } else if (name == "--guard") {
      a.guard = number(name, value) != 0;
    } else if (name == "--ports") {
      a.ports = ports(value);
    } else if (name == "--n") {
      a.n = number(name, value);
    } else if (name == "--workers") {
      a.workers = number(name, value);
    } else if (name == "--timeout") {
      a.timeout_ms = number(name, value);
    } else if (name == "--warm") {
      a.warm = number(name, value);
    } else if (name == "--ttl") {
      a.ttl_ms = number(name, value);
    } else {
      usage(name + ": unknown");
    }
  }
  const std::vector<std::string> modes{"batch", "lat", "fault", "serve", "tput", "contend"};
  if (std::find(modes.begin(), modes.end(), a.mode) == modes.end()) usage("--mode: unknown: " + a.mode);
  if (a.workers < 1) usage("--workers: at least one is needed");
  return a;
}

double percentile(std::vector<double> values, double percent) {
  if (values.empty()) return -1;
  const auto at = std::min(values.size() - 1,
                           static_cast<std::size_t>(percent / 100.0 * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

double micros_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

double cpu_micros() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto micros = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return micros(used.ru_utime) + micros(used.ru_stime);
}

void print_ready() {
  std::puts("READY");
  std::fflush(stdout);
}

void print_result(const Arguments& arguments, const Samples& samples, const Meter& meter) {
  const double wall = meter.wall_s();
  const double cpu = meter.cpu_s();
  const auto spread = [](const std::vector<double>& v) {
    char text[160];
    std::snprintf(text, sizeof text, R"({"p50":%.1f,"p95":%.1f,"p99":%.1f,"max":%.1f})", percentile(v, 50),
                  percentile(v, 95), percentile(v, 99), percentile(v, 100));
    return std::string(text);
  };
  const bool many = arguments.mode == "tput" || arguments.mode == "contend";
  std::printf(
      R"({"peer":"%s","mode":"%s","ops":%ld,"acq":%s,"rel":%s,"fails":%ld,"errs":%ld,"wall":%.4f,"cpu":%.4f)",
      arguments.peer.c_str(), arguments.mode.c_str(), samples.done, spread(samples.acquire).c_str(),
      spread(samples.release).c_str(), samples.failed, samples.errors, wall, cpu);
  if (many) std::printf(R"(,"workers":%d,"viol":%ld)", arguments.workers, samples.overlaps);
  std::puts("}");
  std::fflush(stdout);
}

void print_batch(const Samples& samples, double cpu_us_per_pair) {
  std::printf("%.2f %.2f %.2f %zu\n", percentile(samples.acquire, 50), percentile(samples.release, 50),
              cpu_us_per_pair, samples.acquire.size());
  std::fflush(stdout);
}

void print_operation(int i, const char* status, double acquire_us, double release_us,
                     const std::string& message) {
  std::printf("OP %d %s %.1f %.1f %s\n", i, status, acquire_us, release_us, message.c_str());
  std::fflush(stdout);
}

void print_answer(char what, bool ok, double began_us, double ended_us) {
  std::printf("%c %d %.0f %.0f\n", what, ok ? 1 : 0, began_us * 1e3, ended_us * 1e3);
  std::fflush(stdout);
}

}  // namespace redlock::bench
