// Options in, lines out. Plain stdio: every line is flushed, since a caller waits for it.
#include "arguments.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

namespace redlock::bench {

namespace {

constexpr const char* kUsage =
    "usage: bench_redlock [--mode batch|times|lat|fault|serve|tput|contend|share|hold]\n"
    "       [--peer redlock|redlock-async|redlock-coroutine|redlock-blocking|floor] [--ports P,P,...]\n"
    "       [--n N] [--workers N] [--timeout MS] [--warm N] [--ttl MS] [--prefix P] [--guard 0|1] [--line "
    "0|1] [--fencing "
    "0|1]\n"
    "       [--tls AUTHORITY.PEM]\n";

[[noreturn]] void usage(const std::string& problem) {
  std::fprintf(stderr, "bench_redlock: %s\n%s", problem.c_str(), kUsage);
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

void one_of(const char* name, const std::string& value, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) == known.end())
    usage(std::string(name) + ": unknown: " + value);
}

void check(const Arguments& a) {
  one_of("--mode", a.mode,
         {"batch", "times", "lat", "fault", "serve", "tput", "contend", "share", "hold", "wait"});
  one_of("--peer", a.peer, {"redlock", "redlock-async", "redlock-coroutine", "redlock-blocking", "floor"});
  if (a.workers < 1) usage("--workers: at least one is needed");
  if (a.peer == "floor" && (a.guard != 0 || a.fencing != 0)) usage("--peer floor: no guard, no fencing");
  if ((a.peer == "floor" || a.peer == "redlock") && !a.tls.empty()) usage("--tls: only for the public faces");
  if ((a.mode == "hold" || a.mode == "wait") && a.peer != "redlock-async")
    usage("--mode " + a.mode + ": only for --peer redlock-async");
}

std::string list(const std::vector<double>& values) {
  std::string text = "[";
  char one[32];
  for (const double value : values) {
    std::snprintf(one, sizeof one, "%s%.1f", text.size() == 1 ? "" : ",", value);
    text += one;
  }
  return text + "]";
}

}  // namespace

Arguments parse_arguments(int argc, char** argv) {
  const std::map<std::string, std::string Arguments::*> words{{"--mode", &Arguments::mode},
                                                              {"--peer", &Arguments::peer},
                                                              {"--prefix", &Arguments::prefix},
                                                              {"--tls", &Arguments::tls}};
  const std::map<std::string, int Arguments::*> numbers{{"--n", &Arguments::n},
                                                        {"--workers", &Arguments::workers},
                                                        {"--warm", &Arguments::warm},
                                                        {"--timeout", &Arguments::timeout_ms},
                                                        {"--ttl", &Arguments::ttl_ms},
                                                        {"--guard", &Arguments::guard},
                                                        {"--fencing", &Arguments::fencing},
                                                        {"--line", &Arguments::line}};
  Arguments a;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) usage(name + ": no value");
    const std::string value = argv[i + 1];
    if (const auto word = words.find(name); word != words.end()) {
      a.*word->second = value;
    } else if (const auto figure = numbers.find(name); figure != numbers.end()) {
      a.*figure->second = number(name, value);
    } else if (name == "--ports") {
      a.ports = ports(value);
    } else {
      usage(name + ": unknown");
    }
  }
  check(a);
  return a;
}

void print_ready() {
  std::puts("READY");
  std::fflush(stdout);
}

void print_result(const Arguments& arguments, const Samples& samples, const Meter& meter) {
  const double wall_s = meter.wall_us() / 1e6;
  const double cpu_s = meter.cpu_us() / 1e6;
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
      spread(samples.release).c_str(), samples.failed, samples.errors, wall_s, cpu_s);
  if (many) std::printf(R"(,"workers":%d,"viol":%ld)", arguments.workers, samples.overlaps);
  std::puts("}");
  std::fflush(stdout);
}

void print_batch(const Samples& samples, double cpu_us_per_pair) {
  std::printf("%.2f %.2f %.2f %zu\n", percentile(samples.acquire, 50), percentile(samples.release, 50),
              cpu_us_per_pair, samples.acquire.size());
  std::fflush(stdout);
}

void print_times(const Samples& samples, double wall_us, double cpu_us) {
  std::printf(R"({"ops":%ld,"failed":%ld,"errors":%ld,"overlaps":%ld,"wall_us":%.0f,"cpu_us":%.0f,)"
              R"("acquire_us":%s,"release_us":%s})"
              "\n",
              samples.done, samples.failed, samples.errors, samples.overlaps, wall_us, cpu_us,
              list(samples.acquire).c_str(), list(samples.release).c_str());
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
