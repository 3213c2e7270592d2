// Five nodes that tell a Guard of themselves, and whose facts a test changes.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/guard.h"
#include "core/shorthand.h"

namespace redlock::core {

inline void PrintTo(const Judgement& judgement, std::ostream* out) {
  *out << to_string(judgement.cause) << ' ' << judgement.time_left.count() << "ms";
}

}  // namespace redlock::core

namespace redlock::core::test {

using namespace std::chrono_literals;

inline constexpr Millis kMaxTtl = 10s;
inline constexpr Terms kTerms{5, kMaxTtl, Deployment("default")};
inline constexpr Judgement kCounts{Cause::none, kNoTimeLeft};

struct FakeNode {
  ServerId run_id;
  ServerId replid;
  bool master = true;
  bool was_replica = false;
  std::uint16_t replicas = 0;
  std::int64_t evicted = 0;
  bool evicts = false;
  Micros clock{1'700'000'000'000'000};  // ahead of ours
  MarkState mark_state = MarkState::missing;
  Mark mark;
  bool settling = false;
};

class GuardTest : public testing::Test {
 protected:
  GuardTest() {
    for (std::size_t i = 0; i < 5; ++i) {
      nodes[i].run_id = {1, i + 1};
      nodes[i].replid = {2, i + 1};
    }
  }

  Reading reading(int node) const {
    const FakeNode& it = nodes[static_cast<std::size_t>(node)];
    Reading reading;
    reading.sent = now - 1ms;
    reading.received = now;
    reading.node_time = it.clock + now.boot - 500us;
    reading.master = it.master;
    reading.replid = it.replid;
    reading.was_replica = it.was_replica;
    reading.replicas = it.replicas;
    reading.evicted = it.evicted;
    reading.mark_state = it.mark_state;
    reading.mark = it.mark;
    reading.settling = it.settling;
    reading.settling_left = 3s;
    return reading;
  }
  // The node answers a verification, and does what is ordered.
  void verify(int node) {
    const FakeNode& it = nodes[static_cast<std::size_t>(node)];
    Verification found;
    found.reading = reading(node);
    found.run_id = it.run_id;
    found.evicts = it.evicts;
    guard.verified(node_at(node), found, now, commands);
  }
  void connect(int node) {
    guard.connected(node_at(node), nodes[static_cast<std::size_t>(node)].run_id);
    verify(node);
  }
  Judgement check(int node) { return guard.checked(node_at(node), reading(node), now, commands); }

  // Takes the orders that have been given, for a test to look at; and does them.
  std::vector<GuardOrder> obey() {
    std::vector<GuardOrder> orders;
    for (int turns = 0; !commands.empty(); ++turns) {
      if (turns == 100) {
        ADD_FAILURE() << "it never comes to rest";
        break;
      }
      now = now + 2ms;  // what is asked now is answered later
      const auto given = std::move(commands);
      commands.clear();
      for (const GuardCommand& command : given) {
        if (command.kind == GuardCommand::Kind::clock_stopped) ++stops;
        if (command.kind == GuardCommand::Kind::verify) verify(index(command.node));
        if (command.kind != GuardCommand::Kind::mend) continue;
        orders.push_back(command.order);
        FakeNode& it = nodes[static_cast<std::size_t>(index(command.node))];
        if (command.order.settle) it.settling = true;
        it.mark_state = MarkState::present;
        it.mark = command.order.mark;
        guard.mended(command.node, MendResult::done, now, commands);
      }
    }
    return orders;
  }
  // All nodes connected, marked and settled.
  void all_ready() {
    for (int i = 0; i < 5; ++i) connect(i);
    obey();
    for (auto& node : nodes) node.settling = false;
    pass(20s);
    for (int i = 0; i < 5; ++i) ASSERT_EQ(check(i), kCounts) << i;
    ASSERT_TRUE(commands.empty());
  }
  // Seconds go by, with the verifications that are due.
  void pass(Micros time) {
    for (const Micros until = now.boot + time; now.boot < until;) {
      now = now + 500ms;
      guard.on_wake(now, commands);
      obey();
    }
  }

  Guard guard{Guard::Setup{true, kTerms, 12s}};
  std::array<FakeNode, 5> nodes;
  GuardCommands commands;
  Instant now = kStart;
  int stops = 0;
};

}  // namespace redlock::core::test
