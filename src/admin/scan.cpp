// See scan.h.
#include "admin/scan.h"

#include <algorithm>
#include <utility>

#include "core/guard_facts.h"
#include "redis/codec.h"

namespace redlock::admin {
namespace {

// Forty steps of five hundred: a tenth of a second of the node's time at most, in small pieces, and each
// answer within what the decoder takes, however long the names are.
constexpr int kSteps = 40;
constexpr std::string_view kPerStep = "500";

// A prefix is text; MATCH wants a pattern.
std::string pattern_for(std::string_view prefix) {
  std::string pattern;
  for (const char c : prefix) {
    if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + '*';
}

// The next cursor; empty: this is no answer to SCAN.
std::string read_step(const Answer& answer, Scan& scan) {
  using Type = redis::Value::Type;
  if (!answer.whole()) return {};
  const redis::Value& value = answer.raw.values.front();
  if (value.type != Type::array || value.items.size() != 2 || value.items[0].type != Type::bulk ||
      value.items[1].type != Type::array)
    return {};
  for (const redis::Value& key : value.items[1].items)
    if (key.type == Type::bulk && !key.text.starts_with(core::kOwnKeys)) scan.keys.push_back(key.text);
  return value.items[0].text;
}

}  // namespace

std::vector<Scan> scan_locks(OneShot& shot, const ClientOptions& options, const std::vector<bool>& wanted) {
  const std::string pattern = pattern_for(options.prefix);
  std::vector<Scan> scans(wanted.size());
  std::vector<std::string> cursors(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) cursors[i] = "0";
  for (int step = 0; step < kSteps; ++step) {
    std::vector<Question> questions(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (!cursors[i].empty()) questions[i].add({"SCAN", cursors[i], "MATCH", pattern, "COUNT", kPerStep});
    if (std::all_of(cursors.begin(), cursors.end(), [](const auto& cursor) { return cursor.empty(); })) break;
    const auto answers = ask(shot, questions, options.connect_timeout);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (cursors[i].empty()) continue;
      cursors[i] = read_step(answers[i], scans[i]);
      scans[i].permitted = scans[i].permitted || !cursors[i].empty();
      scans[i].cut = cursors[i] != "0";
      if (cursors[i] == "0") cursors[i].clear();
    }
  }
  for (Scan& scan : scans) {  // SCAN may give a key twice
    std::sort(scan.keys.begin(), scan.keys.end());
    scan.keys.erase(std::unique(scan.keys.begin(), scan.keys.end()), scan.keys.end());
  }
  return scans;
}

}  // namespace redlock::admin
