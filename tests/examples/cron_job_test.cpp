// The example of a job that cron starts on many hosts: one does it, also when another's clock is late, and
// for each minute anew.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "examples/ready_masters.h"
#include "integration/program.h"

namespace redlock::test {
namespace {

class CronJobTest : public ReadyMasters {
 protected:
  // The keys stand for a ttl longer than the test.
  CronJobTest() { leaves_keys(); }

  static std::unique_ptr<Program> host(const std::string& minute) {
    std::vector<std::string> words{REDLOCK_EXAMPLES "/cron_job", minute};
    for (const auto& url : servers().urls()) words.push_back(url);
    return std::make_unique<Program>(words);
  }
  // How many of them did the job; all of them ended well.
  static int did_it(const std::vector<std::unique_ptr<Program>>& hosts) {
    int count = 0;
    for (const auto& host : hosts) {
      EXPECT_EQ(host->wait(), 0) << host->output();
      const bool did = host->output() == "we do it\ndone\n";
      EXPECT_TRUE(did || host->output() == "another host does it\n") << host->output();
      count += did ? 1 : 0;
    }
    return count;
  }
};

TEST_F(CronJobTest, OneOfManyDoesItAndNobodyAfterwards) {
  std::vector<std::unique_ptr<Program>> hosts;
  for (int i = 0; i < 6; ++i) hosts.push_back(host("2026-11-30T12:00"));
  EXPECT_EQ(did_it(hosts), 1);
  // The job is done, and a host whose clock is behind comes to this minute only now; the others have the
  // next.
  std::vector<std::unique_ptr<Program>> late;
  late.push_back(host("2026-11-30T12:00"));
  hosts.clear();
  for (int i = 0; i < 6; ++i) hosts.push_back(host("2026-11-30T12:01"));
  EXPECT_EQ(did_it(late), 0);
  EXPECT_EQ(did_it(hosts), 1);
}

TEST_F(CronJobTest, WithoutAMajorityItSaysSo) {
  for (int i = 0; i < 3; ++i) servers()[i].kill();
  const auto alone = host("2026-11-30T12:02");
  EXPECT_EQ(alone->wait(), 69) << alone->output();
}

}  // namespace
}  // namespace redlock::test
