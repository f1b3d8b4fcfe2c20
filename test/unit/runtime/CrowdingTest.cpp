// Tests how long launches do without a team whose threads began late.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/Crowding.h"

#include "gtest/gtest.h"

using nereid::runtime::Crowding;
using namespace std::chrono_literals;

TEST(Crowding, begins_uncrowded_and_stays_so_while_threads_are_in_time) {
  Crowding crowding;
  EXPECT_FALSE(crowding.isCrowded(0ns));
  crowding.report(Crowding::kLate, 1s);
  EXPECT_FALSE(crowding.isCrowded(1s));
}

TEST(Crowding, one_late_region_is_none) {
  Crowding crowding;
  for (int region = 0; region < 3; ++region) {
    crowding.report(Crowding::kLate + 1ns, 1s);
    EXPECT_FALSE(crowding.isCrowded(1s));
    crowding.report(1us, 1s);
  }
}

TEST(Crowding, late_threads_count_for_a_while) {
  Crowding crowding;
  crowding.report(Crowding::kLate + 1ns, 1s);
  crowding.report(Crowding::kLate + 1ns, 1s);
  EXPECT_TRUE(crowding.isCrowded(1s));
  EXPECT_TRUE(crowding.isCrowded(1s + Crowding::kShortest - 1ns));
  EXPECT_FALSE(crowding.isCrowded(1s + Crowding::kShortest));
}

TEST(Crowding, the_while_doubles_up_to_a_limit_and_starts_again) {
  Crowding crowding;
  Crowding::Time now = 1s;
  for (Crowding::Time expected = Crowding::kShortest; expected < Crowding::kLongest; expected *= 2) {
    crowding.report(4ms, now);
    crowding.report(4ms, now);
    EXPECT_TRUE(crowding.isCrowded(now + expected - 1ns));
    EXPECT_FALSE(crowding.isCrowded(now + expected));
    now += expected;
  }
  for (int again = 0; again < 3; ++again) {
    crowding.report(4ms, now);
    crowding.report(4ms, now);
    EXPECT_TRUE(crowding.isCrowded(now + Crowding::kLongest - 1ns));
    EXPECT_FALSE(crowding.isCrowded(now + Crowding::kLongest));
    now += Crowding::kLongest;
  }
  crowding.report(1us, now);
  EXPECT_FALSE(crowding.isCrowded(now));
  crowding.report(4ms, now);
  crowding.report(4ms, now);
  EXPECT_TRUE(crowding.isCrowded(now));
  EXPECT_FALSE(crowding.isCrowded(now + Crowding::kShortest));
}

// The threads slept during that time: waking them may take longer than kLate on a machine that is idle.
TEST(Crowding, one_late_region_after_a_while_without_the_team_is_none) {
  Crowding crowding;
  crowding.report(4ms, 1s);
  crowding.report(4ms, 1s);
  const Crowding::Time later = 1s + Crowding::kShortest;
  crowding.report(1ms, later);
  EXPECT_FALSE(crowding.isCrowded(later));
  crowding.report(1us, later);
  EXPECT_FALSE(crowding.isCrowded(later));
}
