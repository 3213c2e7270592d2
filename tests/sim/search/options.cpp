// See options.h. A bound is one row of a table: its option, where its number goes, and how large it may be.
#include "sim/search/options.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/assert.h"

#ifdef REDLOCK_SIM_BREAKS
namespace redlock {
int broken = 0;  // which of the guard's mutants this program is, see CMakeLists.txt
}
#endif

namespace redlock::search {
namespace {

struct Number {
  const char* option;
  std::uint8_t Bounds::*to;
  int most;
  const char* help;
};
constexpr Number kNumbers[] = {
    {"--watchdogs", &Bounds::watchdogs, 3, "the first so many clients extend their leases"},
    {"--nodes", &Bounds::nodes, kMostNodes, "how many; 3 if not given"},
    {"--stay-ticks", &Bounds::stay_ticks, 99, "how long a place in line is kept"},
    {"--hushes", &Bounds::hushes, 9, "subscriptions that end with what was told on them"},
    {"--echoes", &Bounds::echoes, 9, "notices that are heard twice"},
    {"--deaths", &Bounds::deaths, 2, "clients that end while they wait or hold"},
    {"--cancels", &Bounds::cancels, 9, "clients that leave the line"},
    {"--ticks", &Bounds::ticks, 30, "how long, in ticks of 2 ms; a key lives for 5"},
    {"--breaks", &Bounds::breaks, 9, "connections that break"},
    {"--timeouts", &Bounds::timeouts, 9, "votes that are given up before their answer"},
    {"--losses", &Bounds::losses, 9, "times that a node loses its memory"},
    {"--outages", &Bounds::outages, 3, "times that all nodes do, at once"},
    {"--alarms", &Bounds::alarms, 9, "times that a third party makes a node settle that is as marked"},
    {"--jumps", &Bounds::jumps, 9, "times that a node's clock jumps forward"},
    {"--jump-ticks", &Bounds::jump_ticks, 9, "how far"},
    {"--looks", &Bounds::looks, 9, "verifications by the clients themselves"},
    {"--settle-ticks", &Bounds::settle_ticks, 9, "how long a node settles; 4 is enough, and what is right"},
};

struct Flag {
  const char* option;
  bool Bounds::*to;
  const char* help;
};
constexpr Flag kFlags[] = {
    {"--guard", &Bounds::guard, "with the guard"},
    {"--line", &Bounds::line, "A and B stand in line"},
    {"--held", &Bounds::held, "A holds when the search begins"},
    {"--promises-more", &Bounds::promises_more, "wrong on purpose: a key handed over lives a tick less"},
    {"--mended-at-once", &Bounds::mended_at_once, "a third party settles a node when it forgets, not later"},
    {"--keep", &Bounds::keep, "leases are not released, and end by their time"},
    {"--alone", &Bounds::alone, "no third party settles nodes"},
    {"--prompt", &Bounds::prompt, "answers that can only help whoever asked are heard at once"},
    {"--apart", &Bounds::apart, "anything may happen between a vote and its check"},
    {"--restart-shorter", &Bounds::restart_shorter, "wrong on purpose: settling begun again ends sooner"},
    {"--check-first", &Bounds::check_first, "wrong on purpose, with --apart: the check before the vote"},
};

constexpr const char* kKinds[kLossKinds] = {"restart", "resync", "flush"};

bool wrong(std::string_view option, const char* what) {
  std::fprintf(stderr, "search: %.*s: %s\n", static_cast<int>(option.size()), option.data(), what);
  return false;
}

bool read(const char* text, std::uint64_t most, std::uint64_t& to) {
  char* end = nullptr;
  to = std::strtoull(text, &end, 10);
  return end != text && *end == '\0' && *text != '-' && to <= most;
}

bool parse_calls(const char* text, Bounds& bounds) {
  bounds.calls = {};
  for (auto& calls : bounds.calls) {
    if (*text < '0' || *text > '3') return wrong("--calls", "up to 3 for each of A, B and C: 1,1,0");
    calls = static_cast<std::uint8_t>(*text++ - '0');
    if (*text == '\0') return bounds.calls[0] > 0 || wrong("--calls", "A has to call");
    if (*text++ != ',') break;
  }
  return wrong("--calls", "up to 3 for each of A, B and C: 1,1,0");
}

bool parse_kinds(std::string_view text, Bounds& bounds) {
  bounds.loss_kinds = 0;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(','));
    int kind = 0;
    while (kind < kLossKinds && word != kKinds[kind]) ++kind;
    if (kind == kLossKinds) return wrong("--loss-kinds", "of restart, resync, flush, with commas");
    bounds.loss_kinds |= bit(static_cast<LossKind>(kind));
    text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
  }
  return true;
}

// 1 if it was a bound, 0 if not, -1 if it was a wrong one. `value` is null where no word follows.
int parse_bound(std::string_view word, const char* value, Bounds& bounds, int& used) {
  for (const auto& flag : kFlags) {
    if (word == flag.option) return bounds.*flag.to = true, 1;
  }
  const bool calls = word == "--calls";
  const bool kinds = word == "--loss-kinds";
  for (const auto& number : kNumbers) {
    if (word != number.option) continue;
    std::uint64_t read_to = 0;
    if (value == nullptr || !read(value, static_cast<std::uint64_t>(number.most), read_to))
      return wrong(word, ("a number up to " + std::to_string(number.most)).c_str()), -1;
    bounds.*number.to = static_cast<std::uint8_t>(read_to);
    return used = 1, 1;
  }
  if (!calls && !kinds) return 0;
  if (value == nullptr) return wrong(word, "a value is missing"), -1;
  used = 1;
  return (calls ? parse_calls(value, bounds) : parse_kinds(value, bounds)) ? 1 : -1;
}

}  // namespace

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    int used = 0;
    const int bound = parse_bound(word, value, options.bounds, used);
    if (bound < 0) return false;
    i += used;
    if (bound > 0) {
      options.own_bounds = true;
    } else if (word == "--space") {
      if (value == nullptr) return wrong(word, "a name is missing; --list has them");
      options.space = argv[++i];
    } else if (word == "--most") {
      if (value == nullptr || !read(value, 4000000000U, options.most_states))
        return wrong(word, "a number up to 4000000000");
      ++i;
#ifdef REDLOCK_SIM_BREAKS
    } else if (word == "--break") {
      std::uint64_t which = 0;
      if (value == nullptr || !read(value, 99, which)) return wrong(word, "a number");
      redlock::broken = static_cast<int>(which);
      ++i;
#endif
    } else if (word == "--plain") {
      options.guarded = false;
    } else if (word == "--guarded") {
      options.plain = false;
    } else if (word == "--quick") {
      options.quick = true;
    } else if (word == "--list") {
      options.list = true;
    } else if (word == "--progress") {
      options.progress = true;
    } else if (word == "--expect-violation") {
      options.expect_violation = true;
    } else if (word == "--help") {
      options.help = true;
    } else {
      return wrong(word, "no such option; --help has them");
    }
  }
  return true;
}

Bounds bounds_of(const char* text) {
  std::vector<std::string> words{"search"};
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(word);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  Options options;
  REDLOCK_ASSERT(parse(static_cast<int>(argv.size()), argv.data(), options));
  return options.bounds;
}

void print_help() {
  std::puts(
      "usage: search [--quick | --plain | --guarded | --space NAME] [--expect-violation]\n"
      "       search BOUND... [--expect-violation]\n\n"
      "Visits everything that clients and two to four nodes can do within bounds. Without arguments, the "
      "spaces "
      "of\n"
      "every day: exit code 1 on two holders, or where a space is not as large as was recorded.\n\n"
      "  --list              the spaces, with their bounds\n"
      "  --space NAME        that one\n"
      "  --quick             the small ones, for sanitizers\n"
      "  --plain, --guarded  those without, or with the guard\n"
      "  --expect-violation  ends well at the first two holders, and badly without; sizes are not compared\n"
      "  --progress          how far it is, for a terminal, to stderr\n"
      "  --most N            give up beyond so many states; one takes 24 to 40 bytes\n\n"
      "Bounds; with --space or a group they change that:\n"
      "  --calls A,B[,C]     how often each client asks; C hears at once and releases nothing");
  std::puts("  --loss-kinds LIST   of restart, resync, flush; all if not given");
  for (const auto& number : kNumbers) std::printf("  %-18s  %s\n", number.option, number.help);
  for (const auto& flag : kFlags) std::printf("  %-18s  %s\n", flag.option, flag.help);
}

std::string to_string(const Bounds& bounds) {
  const Bounds least{.ticks = 0};
  std::string out = "--calls " + std::to_string(bounds.calls[0]);
  for (std::size_t c = 1; c < kMostClients; ++c)
    if (c == 1 || bounds.calls[c] > 0) out += ',' + std::to_string(bounds.calls[c]);
  for (const auto& number : kNumbers)
    if (bounds.*number.to != least.*number.to)
      out += std::string(" ") + number.option + ' ' + std::to_string(bounds.*number.to);
  for (const auto& flag : kFlags)
    if (bounds.*flag.to) out += std::string(" ") + flag.option;
  if (bounds.losses + bounds.outages == 0 || bounds.loss_kinds == least.loss_kinds) return out;
  out += " --loss-kinds ";
  bool first = true;
  for (int kind = 0; kind < kLossKinds; ++kind) {
    if ((bounds.loss_kinds & bit(static_cast<LossKind>(kind))) == 0) continue;
    out += (first ? "" : ",") + std::string(kKinds[kind]);
    first = false;
  }
  return out;
}

}  // namespace redlock::search
