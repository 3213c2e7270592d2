// A resource in PostgreSQL: the same statements as in SQLite, and two writers at once.
#include "resources/postgres.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "redlock/fencing.h"
#include "resources/statements.h"

namespace redlock::test {
namespace {

class PostgresResource : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<Postgres>(); }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override {
    run("DROP TABLE IF EXISTS redlock_fence; DROP TABLE IF EXISTS stock;"
        "CREATE TABLE stock (item BIGINT PRIMARY KEY, amount BIGINT NOT NULL)");
    run(std::string(fencing::kSqlTable));
  }
  static std::string run(const std::string& sql) { return server_->run(sql); }
  // With its parameters, in a transaction of its own or as part of one.
  static std::string check(const std::string& resource, const std::string& token) {
    return "PREPARE fence(TEXT, BIGINT) AS " + std::string(fencing::kSqlCheck) + "; EXECUTE fence('" +
           resource + "', " + token + ")";
  }
  static std::string last_line(const std::string& text) {
    const auto end = text.find_last_not_of('\n');
    const auto begin = text.find_last_of('\n', end);
    return text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
  }
  static bool accepted(const std::string& printed) {
    const auto line = last_line(printed).substr(0, 10);
    EXPECT_TRUE(line == "INSERT 0 1" || line == "INSERT 0 0") << printed;
    return line == "INSERT 0 1";
  }

  static inline std::unique_ptr<Postgres> server_;
};

TEST_F(PostgresResource, TheSleepersTransactionIsRefused) {
  EXPECT_TRUE(accepted(run(check("stock", "1790000000000000"))));
  EXPECT_TRUE(accepted(run(check("stock", "1790000000000001"))));
  EXPECT_FALSE(accepted(run(check("stock", "1790000000000000"))));
  EXPECT_TRUE(accepted(run(check("stock", "1790000000000001"))));
  EXPECT_TRUE(accepted(run(check("other", "5"))));
  EXPECT_TRUE(accepted(run(check("stock", "9007199254740991"))));
  EXPECT_FALSE(accepted(run(check("stock", "9007199254740990"))));
}

TEST_F(PostgresResource, AColumnDoesWhereTheResourceIsARow) {
  const auto documented = statements();
  run(documented.add_column);
  const auto execute = [&](const std::string& sql, const std::string& parameters) {
    return last_line(run("PREPARE s(BIGINT, BIGINT, BIGINT) AS " + sql + "; EXECUTE s(" + parameters + ")"));
  };
  EXPECT_EQ(execute(documented.upsert, "7, 42, 10"), "INSERT 0 1");
  EXPECT_EQ(execute(documented.update, "6, 42, 11"), "UPDATE 1");
  EXPECT_EQ(execute(documented.update, "5, 42, 10"), "UPDATE 0");
  EXPECT_EQ(execute(documented.upsert, "5, 42, 10"), "INSERT 0 0");
  EXPECT_EQ(run("SELECT amount, fence FROM stock"), "6|11\n");
}

// The sleeper comes while the next holder's transaction is open: it waits for the row, and then looks again.
TEST_F(PostgresResource, AWriterThatWaitedForTheRowIsRefused) {
  ASSERT_TRUE(accepted(run(check("stock", "10"))));
  std::jthread next_holder(
      [] { run("BEGIN; " + check("stock", "11") + "; SELECT pg_sleep(1), 'holding'; COMMIT"); });
  for (int i = 0; i < 600; ++i) {
    const auto found = run(
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%''holding''%' AND pid <> pg_backend_pid()");
    if (found == "1\n") break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(accepted(run(check("stock", "10"))));
  EXPECT_EQ(run("SELECT token FROM redlock_fence"), "11\n");
}

}  // namespace
}  // namespace redlock::test
