// chaos_judge: reads what all processes of a series wrote down, and says whether the lock kept its word.
//
//   chaos_judge SERIES_DIR --expect clean|overlaps|broken|shown [--so-far] [--json]
//
// --so-far: the series still runs, and holds whose end is not written yet say nothing. Writes
// SERIES_DIR/verdict.json. Exit codes: 0 as expected, 1 not, 64 wrong usage, 65 unreadable events, 73 the
// verdict cannot be written.
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

#include "print.h"
#include "record.h"
#include "verdict.h"

namespace {

using namespace redlock::chaos;

int fail(int code, const std::string& why) {
  std::fprintf(stderr, "chaos_judge: %s\n", why.c_str());
  return code;
}

struct Arguments {
  std::string series;
  std::optional<Expect> expect;
  bool so_far = false;
  bool json = false;
};

// The error is one line.
std::optional<std::string> parse(int argc, char** argv, Arguments& out) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json") {
      out.json = true;
    } else if (word == "--so-far") {
      out.so_far = true;
    } else if (word == "--expect") {
      const std::string value = i + 1 < argc ? argv[++i] : "";
      out.expect = expect_from(value);
      if (!out.expect) return "--expect takes clean, overlaps, broken or shown, not \"" + value + "\"";
    } else if (word.starts_with("-") || !out.series.empty()) {
      return "unexpected: " + word;
    } else {
      out.series = word;
    }
  }
  if (out.series.empty()) return "the folder of a series is needed";
  if (!out.expect) return "--expect is needed: clean, overlaps, broken or shown";
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (const auto wrong = parse(argc, argv, arguments)) {
    return fail(
        64,
        *wrong + "\nusage: chaos_judge SERIES_DIR --expect clean|overlaps|broken|shown [--so-far] [--json]");
  }
  const auto record = read_record(arguments.series + "/events");
  if (!record) return fail(65, record.error());
  const Verdict verdict = judge(*record, *arguments.expect, arguments.so_far);
  const std::string json = to_json(verdict, *record);
  const std::string path = arguments.series + "/verdict.json";
  if (!(std::ofstream(path) << json << std::flush)) return fail(73, "cannot write " + path);
  std::fputs(arguments.json ? json.c_str() : to_table(verdict, *record).c_str(), stdout);
  return verdict.as_expected ? 0 : 1;
}
