// Tests that the launch table loses no entry under many concurrent readers and writers.
// SPDX-License-Identifier: MIT
#include "jit/LaunchTable.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

using namespace nereid::jit;

static std::string keyOf(int i) { return "key" + std::to_string(i); }

TEST(LaunchTable, finds_what_was_inserted_and_nothing_else) {
  LaunchTable<int> table;
  EXPECT_EQ(table.find("a"), nullptr);
  for (int i = 0; i < 1000; ++i)
    EXPECT_TRUE(table.insert(keyOf(i), i).second);
  EXPECT_EQ(table.size(), 1000u);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_NE(table.find(keyOf(i)), nullptr) << i;
    EXPECT_EQ(*table.find(keyOf(i)), i);
  }
  EXPECT_EQ(table.find(keyOf(1000)), nullptr);
}

TEST(LaunchTable, first_value_of_a_key_stays) {
  LaunchTable<int> table;
  const auto first = table.insert("k", 1);
  const auto second = table.insert("k", 2);
  EXPECT_TRUE(first.second);
  EXPECT_FALSE(second.second);
  EXPECT_EQ(first.first, second.first);
  EXPECT_EQ(*second.first, 1);
}

TEST(LaunchTable, keys_are_any_bytes_and_compared_in_full) {
  LaunchTable<int> table;
  const std::string zero("a\0b", 3), other("a\0c", 3);
  table.insert(zero, 1);
  table.insert("", 2);
  EXPECT_EQ(*table.find(zero), 1);
  EXPECT_EQ(*table.find(""), 2);
  EXPECT_EQ(table.find(other), nullptr);
  // Different keys with equal hashes stay different.
  EXPECT_EQ(table.find(hashKey(zero), other), nullptr);
}

TEST(LaunchTable, values_keep_their_address_through_growth_and_clear) {
  LaunchTable<std::unique_ptr<int>> table;
  auto *first = table.insert("first", std::make_unique<int>(7)).first;
  for (int i = 0; i < 5000; ++i)
    table.insert(keyOf(i), nullptr);
  EXPECT_EQ(table.find("first"), first);
  table.clear();
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.find("first"), nullptr);
  EXPECT_EQ(**first, 7);
  EXPECT_TRUE(table.insert("first", std::make_unique<int>(8)).second);
  EXPECT_EQ(**table.find("first"), 8);
}

TEST(LaunchTable, visits_every_entry) {
  LaunchTable<int> table;
  std::map<std::string, int> expected, seen;
  for (int i = 0; i < 100; ++i)
    table.insert(keyOf(i), expected[keyOf(i)] = i);
  table.forEach([&](std::string_view key, int value) { seen[std::string(key)] = value; });
  EXPECT_EQ(seen, expected);
}

TEST(LaunchTable, readers_and_writers_at_the_same_time) {
  constexpr int kKeys = 3000, kWriters = 4;
  LaunchTable<int> table;
  std::atomic<int> wrong{0}, inserted{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer)
    threads.emplace_back([&, writer] {
      for (int i = 0; i < kKeys; ++i) {
        const int key = (i * 7 + writer * 1013) % kKeys;
        inserted += table.insert(keyOf(key), key).second;
        const int *found = table.find(keyOf(key));
        wrong += !found || *found != key;
      }
    });
  for (int reader = 0; reader < 3; ++reader)
    threads.emplace_back([&, reader] {
      std::vector<bool> seen(kKeys);
      for (int i = reader; !stop; i = (i + 11) % kKeys) {
        const int *found = table.find(keyOf(i));
        wrong += found ? *found != i : seen[i];
        seen[i] = seen[i] || found;
      }
    });
  for (int writer = 0; writer < kWriters; ++writer)
    threads[writer].join();
  stop = true;
  for (size_t i = kWriters; i < threads.size(); ++i)
    threads[i].join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(inserted, kKeys);
  EXPECT_EQ(table.size(), static_cast<size_t>(kKeys));
}
