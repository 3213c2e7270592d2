// Reading scenarios; see script.h.
#include "scenarios/script.h"

#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace redlock::scenarios {
namespace {

// The table at the end of the specification, and the numbered steps of "Acquire".
const std::set<std::string> kRules = {"S1", "S2", "S3", "S4", "S5", "S6", "S7", "L1", "L2", "L3", "L4", "L5"};

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// One space between words, so that expected lines may be aligned.
std::string single_spaced(const std::string& text) {
  std::string out;
  for (const auto& word : words_of(text)) (out += out.empty() ? "" : " ") += word;
  return out;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(trimmed(part));
  return parts;
}

}  // namespace

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

Script read_script(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  Script script{path, {}, {}};
  std::string raw;
  for (int number = 1; std::getline(in, raw); ++number) {
    const auto fail = [&](const std::string& why) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + why);
    };
    std::string line = trimmed(raw);
    if (line.starts_with("# rules:")) {
      for (const auto& rule : words_of(line.substr(8))) {
        if (!kRules.contains(rule)) fail("'" + rule + "' is no rule of the specification");
        script.rules.push_back(rule);
      }
      continue;
    }
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (line.starts_with("->")) {
      if (script.steps.empty()) fail("nothing was done yet that could have this outcome");
      script.steps.back().expected.push_back(single_spaced(line.substr(2)));
      script.steps.back().expected_lines.push_back(number);
    } else {
      script.steps.push_back({number, split(line, ';'), {}, {}});
    }
  }
  if (script.rules.empty()) throw std::runtime_error(path + ": a line '# rules: ...' must say what it shows");
  if (script.steps.empty()) throw std::runtime_error(path + ": no steps");
  return script;
}

}  // namespace redlock::scenarios
