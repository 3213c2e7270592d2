// A resource in SQLite, by the table of its own and by a column, and the documents' statements as they stand.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "redlock/fencing.h"
#include "resources/statements.h"

namespace redlock::test {
namespace {

class SqliteResource : public testing::Test {
 protected:
  SqliteResource() {
    EXPECT_EQ(sqlite3_open(":memory:", &database_), SQLITE_OK);
    run("CREATE TABLE stock (item INTEGER PRIMARY KEY, amount INTEGER NOT NULL)");
  }
  ~SqliteResource() override { sqlite3_close(database_); }

  // Rows changed. Parameters by position, texts and numbers.
  int run(std::string_view sql, const std::vector<std::string>& texts = {},
          const std::vector<std::int64_t>& numbers = {}) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(database_);
    int at = 0;
    for (const auto& text : texts) sqlite3_bind_text(statement, ++at, text.c_str(), -1, SQLITE_TRANSIENT);
    for (const auto number : numbers) sqlite3_bind_int64(statement, parameter(statement, ++at), number);
    const int before = sqlite3_total_changes(database_);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_DONE) << sqlite3_errmsg(database_);
    sqlite3_finalize(statement);
    return sqlite3_total_changes(database_) - before;
  }
  std::int64_t value(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    const std::int64_t found = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return found;
  }

 private:
  // $2 is a name to SQLite, and has the place of its first appearance.
  static int parameter(sqlite3_stmt* statement, int number) {
    return sqlite3_bind_parameter_index(statement, ("$" + std::to_string(number)).c_str());
  }
  sqlite3* database_ = nullptr;
};

TEST_F(SqliteResource, TheSleepersTransactionIsRefused) {
  run(fencing::kSqlTable);
  run(fencing::kSqlTable);  // once more does no harm
  EXPECT_EQ(run(fencing::kSqlCheck, {"stock"}, {1790000000000000}), 1);
  EXPECT_EQ(run(fencing::kSqlCheck, {"stock"}, {1790000000000001}), 1);
  EXPECT_EQ(run(fencing::kSqlCheck, {"stock"}, {1790000000000000}), 0);
  EXPECT_EQ(run(fencing::kSqlCheck, {"stock"}, {1790000000000001}), 1) << "one holder may write often";
  EXPECT_EQ(run(fencing::kSqlCheck, {"other"}, {5}), 1) << "resources have nothing to do with each other";
  EXPECT_EQ(run(fencing::kSqlCheck, {"stock"}, {9007199254740991}), 1);
  EXPECT_EQ(run(fencing::kSqlCheck, {"stock"}, {9007199254740990}), 0);
}

TEST_F(SqliteResource, AColumnDoesWhereTheResourceIsARow) {
  const auto documented = statements();
  run(documented.add_column);
  EXPECT_EQ(run(documented.upsert, {}, {7, 42, 10}), 1);
  EXPECT_EQ(run(documented.update, {}, {6, 42, 11}), 1);
  EXPECT_EQ(run(documented.update, {}, {5, 42, 10}), 0);
  EXPECT_EQ(run(documented.upsert, {}, {5, 42, 10}), 0);
  EXPECT_EQ(value("SELECT amount FROM stock WHERE item = 42"), 6);
  EXPECT_EQ(value("SELECT fence FROM stock WHERE item = 42"), 11);
}

TEST(SqlStatements, ThePageShowsWhatTheHeaderHas) {
  const auto documented = statements();
  EXPECT_EQ(documented.table, fencing::kSqlTable);
  EXPECT_EQ(documented.check, fencing::kSqlCheck);
}

}  // namespace
}  // namespace redlock::test
