// The agenda against a plain map: nobody is looked at too late on either clock, whatever was set, moved and
// cleared.
#include "client/agenda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace redlock::client {
namespace {

core::Instant at(std::int64_t boot, std::int64_t raw) {
  return {core::Micros{boot}, core::Micros{raw}};
}
core::Instant at(std::int64_t both) {
  return at(both, both);
}

TEST(Agenda, BeginsEmptyAndClearingNobodyIsHarmless) {
  Agenda agenda;
  EXPECT_TRUE(agenda.empty());
  agenda.clear({Machine::release, 7});
  EXPECT_TRUE(agenda.empty());
  EXPECT_FALSE(agenda.due(at(1000)));
}

TEST(Agenda, MovesAnEntryInsteadOfAddingOne) {
  Agenda agenda;
  agenda.set({Machine::session, 1}, at(10));
  agenda.set({Machine::session, 1}, at(5));
  agenda.set({Machine::session, 1}, at(20));
  EXPECT_EQ(agenda.first_at(), at(20));
  agenda.clear({Machine::session, 1});
  EXPECT_TRUE(agenda.empty());
}

TEST(Agenda, KeepsMachinesOfTheSameSlotApart) {
  Agenda agenda;
  agenda.set({Machine::session, 1}, at(10));
  agenda.set({Machine::release, 1}, at(5));
  agenda.set({Machine::extension, 1}, at(7));
  agenda.clear({Machine::release, 1});
  EXPECT_FALSE(agenda.due(at(6)));
  ASSERT_TRUE(agenda.due(at(7)));
  EXPECT_EQ(agenda.due(at(7))->machine, Machine::extension);
}

TEST(Agenda, SomebodyIsDueWhenEitherClockSaysSo) {  // S2, L4
  Agenda agenda;
  agenda.set({Machine::session, 1}, at(100, 50));
  agenda.set({Machine::session, 2}, at(90, 80));
  EXPECT_EQ(agenda.first_at(), at(90, 50));
  EXPECT_FALSE(agenda.due(at(89, 49)));
  ASSERT_TRUE(agenda.due(at(89, 50)));
  EXPECT_EQ(agenda.due(at(89, 50))->slot, 1U);
  ASSERT_TRUE(agenda.due(at(90, 49)));
  EXPECT_EQ(agenda.due(at(90, 49))->slot, 2U);
}

TEST(Agenda, AgreesWithAPlainMapOverManyChanges) {
  std::mt19937 random(7);
  Agenda agenda;
  std::map<std::pair<int, std::uint32_t>, core::Instant> model;
  for (int i = 0; i < 5000; ++i) {
    const int machine = static_cast<int>(random() % 3);
    const auto slot = static_cast<std::uint32_t>(random() % 40);
    if (random() % 3 == 0) {
      agenda.clear({static_cast<Machine>(machine), slot});
      model.erase({machine, slot});
    } else {
      const auto when = at(random() % 1000, random() % 1000);
      agenda.set({static_cast<Machine>(machine), slot}, when);
      model[{machine, slot}] = when;
    }
    ASSERT_EQ(agenda.empty(), model.empty());
    if (model.empty()) continue;
    core::Instant first = at(1000);
    for (const auto& [key, when] : model)
      first = {std::min(first.boot, when.boot), std::min(first.raw, when.raw)};
    ASSERT_EQ(agenda.first_at(), first);
    const auto now = at(random() % 100, random() % 100);
    const bool expected = std::any_of(model.begin(), model.end(),
                                      [&](const auto& entry) { return core::passed(entry.second, now); });
    const auto due = agenda.due(now);
    ASSERT_EQ(due.has_value(), expected);
    if (due) {
      const std::pair<int, std::uint32_t> key{static_cast<int>(due->machine), due->slot};
      ASSERT_TRUE(core::passed(model.at(key), now));
    }
  }
}

}  // namespace
}  // namespace redlock::client
