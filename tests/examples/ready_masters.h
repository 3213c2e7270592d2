// Five masters for programs that have the guard, as every program does unless it says otherwise: marked ready
// before each test, as their operator would do, and the marks taken off behind it.
#pragma once

#include <stdexcept>

#include "integration/five_masters.h"
#include "redlock/guard_admin.h"

namespace redlock::test {

class ReadyMasters : public FiveMasters {
 protected:
  void SetUp() override {
    FiveMasters::SetUp();
    make_ready(5);
  }
  void TearDown() override {
    unmark();
    FiveMasters::TearDown();
  }
  // The first so many, as a deployment of their own.
  static void make_ready(std::size_t count) {
    unmark();
    ClientOptions first = options();
    first.guard.enabled = true;
    first.nodes.resize(count);
    const auto made = admin::init(first);
    if (!made || !made->done) throw std::runtime_error("the masters cannot be marked ready");
  }

 private:
  static void unmark() {
    for (int i = 0; i < 5; ++i)
      if (servers()[i].running()) servers()[i].command({"DEL", "redlock:guard", "redlock:settling"});
  }
};

}  // namespace redlock::test
