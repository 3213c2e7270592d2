// A stale name finds nothing, a slot's memory is used again.
#include "client/slots.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace redlock::client {
namespace {

TEST(Slots, FindsBySlotAndGeneration) {
  Slots<std::string> slots;
  auto& entry = slots.add();
  entry.value = "a";
  EXPECT_EQ(slots.find(entry.slot, entry.generation), &entry);
  EXPECT_EQ(slots.find(entry.slot, entry.generation + 1), nullptr);
  EXPECT_EQ(slots.find(entry.slot + 1, entry.generation), nullptr);
  EXPECT_EQ(slots.size(), 1U);
}

TEST(Slots, AStaleNameFindsNothingWhoeverUsesTheSlotNow) {
  Slots<std::string> slots;
  auto& first = slots.add();
  first.value = "a";
  const auto slot = first.slot;
  const auto generation = first.generation;
  slots.remove(first);
  EXPECT_EQ(slots.find(slot, generation), nullptr);
  auto& second = slots.add();
  EXPECT_EQ(second.slot, slot);  // used again
  EXPECT_EQ(second.value, "");   // and clean
  EXPECT_EQ(slots.find(slot, generation), nullptr);
  EXPECT_NE(slots.find(slot, second.generation), nullptr);
}

TEST(Slots, EntriesStayWhereTheyAreWhenOthersCome) {
  Slots<int> slots;
  auto* first = &slots.add();
  first->value = 42;
  for (int i = 0; i < 1000; ++i) slots.add();
  EXPECT_EQ(slots.find(first->slot, first->generation), first);
  EXPECT_EQ(first->value, 42);
}

TEST(Slots, EachMayRemoveTheEntryItIsGivenAndAddOthers) {
  Slots<int> slots;
  for (int i = 0; i < 10; ++i) slots.add().value = i;
  std::multiset<int> seen;
  slots.each([&](auto& entry) {
    seen.insert(entry.value);
    if (entry.value % 2 == 0) {
      slots.remove(entry);
      slots.add().value = 100;
    }
  });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(seen.count(i), 1U) << i;
  EXPECT_EQ(slots.size(), 10U);
}

}  // namespace
}  // namespace redlock::client
