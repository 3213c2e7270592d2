// A child after fork is another process, and so is its child, however often it was asked before.
#include "uv/process_id.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace redlock::uv {
namespace {

// Asked twice: the second answer is the remembered one.
bool is_getpid() {
  const pid_t asked = process_id();
  const pid_t remembered = process_id();
  return asked == ::getpid() && remembered == ::getpid();
}

// Whether `fn` says yes in a child.
template <class Fn>
bool in_child(Fn fn) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(fn() ? 0 : 1);
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ProcessId, IsGetpidInEveryGeneration) {
  EXPECT_TRUE(is_getpid());
  EXPECT_TRUE(in_child([] { return is_getpid() && in_child(is_getpid) && is_getpid(); }));
  EXPECT_TRUE(is_getpid());
}

}  // namespace
}  // namespace redlock::uv
