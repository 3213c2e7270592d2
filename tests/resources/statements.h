// The SQL of docs/fencing.md as it stands there, each statement on one line and without its comment.
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace redlock::test {

struct Statements {
  std::string table, check, add_column, update, upsert;
};

inline Statements statements() {
  std::ifstream page(REDLOCK_DOCS "/fencing.md");
  std::vector<std::string> found;
  std::string line, statement;
  bool inside = false;
  while (std::getline(page, line)) {
    if (line == "```sql" || line == "```") {
      inside = line == "```sql";
      continue;
    }
    if (!inside) continue;
    std::istringstream words(line.substr(0, line.find("--")));
    for (std::string word; words >> word;) {
      if (!statement.empty()) statement += ' ';
      statement += word;
      if (statement.back() != ';') continue;
      statement.pop_back();
      found.push_back(statement);
      statement.clear();
    }
  }
  const auto one = [&](const std::string& begin) {
    for (const auto& each : found)
      if (each.starts_with(begin)) return each;
    throw std::runtime_error("docs/fencing.md has no statement that begins with " + begin);
  };
  return {one("CREATE TABLE"), one("INSERT INTO redlock_fence"), one("ALTER TABLE"),
          one("UPDATE stock SET amount"), one("INSERT INTO stock")};
}

}  // namespace redlock::test
