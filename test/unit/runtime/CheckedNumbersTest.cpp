// The sanitizer's arithmetic is exact where the checked integers have 64 bits.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/CheckedNumbers.h"

#include <gtest/gtest.h>

using namespace nereid::runtime;

/// The report on `a op b`; empty where the result fits.
template <typename Element> static std::string overflowOf(const char *name, Element a, const char *op, Element b) {
  const PrintedType types[] = {{name, 0, nullptr}, {name, 0, nullptr}};
  const CheckSite site{CheckKind::Overflow, -1, -1, 0, 0, 2, types, op, ""};
  const void *const values[] = {&a, &b};
  const std::optional<Finding> found = findOverflow(CheckedValues(site, values));
  return found ? found->message.substr(0, found->message.find(" cannot hold")) : "";
}

TEST(CheckedNumbers, unsigned_products_of_128_bits_are_reported) {
  EXPECT_EQ(overflowOf<uint64_t>("u64", UINT64_MAX, "*", UINT64_MAX),
            "18446744073709551615 * 18446744073709551615 is 340282366920938463426481119284349108225, which uint64");
  EXPECT_EQ(overflowOf<uint64_t>("u64", uint64_t{1} << 32, "*", uint64_t{1} << 32),
            "4294967296 * 4294967296 is 18446744073709551616, which uint64");
  EXPECT_EQ(overflowOf<uint64_t>("u64", UINT64_MAX, "*", 1), "");
}

TEST(CheckedNumbers, the_ends_of_the_signed_range_fit) {
  EXPECT_EQ(overflowOf<int64_t>("i64", INT64_MIN, "*", 1), "");
  EXPECT_EQ(overflowOf<int64_t>("i64", INT64_MIN, "*", 0), "");
  EXPECT_EQ(overflowOf<int64_t>("i64", INT64_MIN, "*", -1),
            "-9223372036854775808 * -1 is 9223372036854775808, which int64");
  EXPECT_EQ(overflowOf<int64_t>("i64", INT64_MIN, "-", 1),
            "-9223372036854775808 - 1 is -9223372036854775809, which int64");
  EXPECT_EQ(overflowOf<int64_t>("i64", INT64_MAX, "+", 1),
            "9223372036854775807 + 1 is 9223372036854775808, which int64");
}

TEST(CheckedNumbers, an_unsigned_difference_below_zero_is_reported) {
  EXPECT_EQ(overflowOf<uint64_t>("u64", 1, "-", 2), "1 - 2 is -1, which uint64");
}
