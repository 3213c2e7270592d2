// Every *.txt in this folder is one test. A step whose outcome differs is shown with file, line and both
// sides.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "scenarios/script.h"
#include "scenarios/stage.h"

namespace redlock::scenarios {
namespace {

std::vector<std::string> all_scripts() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(REDLOCK_SCENARIOS))
    if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists")
      paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string differences(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
  std::string text;
  for (const auto& line : expected) {
    const bool both = std::find(actual.begin(), actual.end(), line) != actual.end();
    text += (both ? "    -> " : "  - -> ") + line + "\n";
  }
  for (const auto& line : actual)
    if (std::find(expected.begin(), expected.end(), line) == expected.end()) text += "  + -> " + line + "\n";
  return text + "  what came:\n" + [&] {
    std::string all;
    for (const auto& line : actual) all += "    -> " + line + "\n";
    return all;
  }();
}

// Nothing when all is as written; else the first fault.
std::string fault_in(const Script& script) {
  Stage stage;
  for (const Step& step : script.steps) {
    const std::string where = script.path + ":" + std::to_string(step.line) + ": ";
    try {
      const auto actual = stage.play(step);
      if (actual != step.expected) return where + "\n" + differences(step.expected, actual);
    } catch (const BadStep& bad) {
      return where + bad.what();
    }
  }
  const std::string owed = stage.unanswered();
  return owed.empty() ? "" : script.path + ": ends while a call has no answer: " + owed;
}

class Scenario : public testing::TestWithParam<std::string> {};

TEST_P(Scenario, GoesAsWritten) {
  const std::string fault = fault_in(read_script(GetParam()));
  EXPECT_TRUE(fault.empty()) << fault;
}

INSTANTIATE_TEST_SUITE_P(Files, Scenario, testing::ValuesIn(all_scripts()), [](const auto& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

TEST(Scenarios, ThereAreAtLeastThirty) {
  EXPECT_GE(all_scripts().size(), 30U);
}

// The runner itself: what is wrong in a scenario must not pass.
class Runner : public testing::Test {
 protected:
  std::string verdict(const std::string& text) {
    const auto path = std::filesystem::path(testing::TempDir()) / "redlock-runner.txt";
    std::ofstream(path) << text;
    std::string result;
    try {
      result = fault_in(read_script(path.string()));
    } catch (const std::runtime_error& error) {
      result = error.what();
    }
    std::filesystem::remove(path);
    return result;
  }
};

TEST_F(Runner, AcceptsWhatIsRight) {
  EXPECT_EQ(verdict("# rules: L1\nnodes 1\na: acquire x\n  -> node 1: acquire x t1 10s\nnode 1 grants\n"
                    "  -> a: granted t1, 9898ms left\n"),
            "");
}

TEST_F(Runner, NamesTheLineOfWhatIsWrong) {
  const std::string head = "# rules: L1\nnodes 1\na: acquire x try\n  -> node 1: acquire x t1 10s\n";
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"nodes 1\n", "# rules"},
           {"# rules: S9\nnodes 1\n", "S9"},
           {"# rules: S1\n", "no steps"},
           {"# rules: S1\n-> a: lost\n", "txt:2: nothing was done"},
           {head + "node 1 explodes\n", "txt:5: unknown word 'explodes'"},
           {head + "node 2 grants\n", "txt:5: there is no node 2"},
           {head + "node 1 grants\n", "txt:5"},                     // an outcome too many
           {head + "node 1 times out\n -> a: too_slow\n", "undo"},  // one too few
           {head + "node 1 grants\n -> a: granted t2, 9898ms left\n", "txt:5"},
           {head + "wait soon\n", "txt:5"},
           {head + "a: acquire y tll 5s\n", "txt:5: unknown word 'tll'"},
           {head + "b: release\n", "txt:5: 'b' has not called"},
           {head + "node 1 fails badly\n", "txt:5: 'badly' is no cause"},
           {head, "ends while a call has no answer: a"}}) {
    EXPECT_NE(verdict(text).find(expected), std::string::npos) << text << "\n=> " << verdict(text);
  }
}

}  // namespace
}  // namespace redlock::scenarios
