// Tests the classes of run-time arguments: what distinguishes kernels, as signatures, letters and keys show it.
// SPDX-License-Identifier: MIT
#include "jit/Classify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

using namespace nereid::jit;

static std::string printed(ArgumentClass argument, bool isConst = false) {
  return Signature{{argument.spec(isConst)}}.str();
}

static ArgumentClass number(ArgumentLeaf::Kind kind, uint64_t bits) {
  ArgumentLeaf leaf;
  leaf.kind = kind;
  leaf.bits = bits;
  return classifyNumber(leaf);
}

TEST(Classify, integers_by_value) {
  const auto print = [](int64_t value, SpecializeRule rule = {}) { return printed(classifyInteger(value, rule)); };
  EXPECT_EQ(print(1), "1");
  EXPECT_EQ(print(0), "i32:16");
  for (int64_t value : {2, 8, 12, 17, 24, -8})
    EXPECT_EQ(print(value), "i32") << value;
  EXPECT_EQ(print(-32), "i32:16");
  EXPECT_EQ(print(INT32_MAX), "i32");
  EXPECT_EQ(print(INT32_MIN), "i32:16");
  EXPECT_EQ(print(int64_t{INT32_MIN} - 1), "i64");
  EXPECT_EQ(print(int64_t{INT32_MAX} + 1), "i64:16");
  EXPECT_EQ(print(int64_t{1} << 40), "i64:16");
  EXPECT_EQ(print(1, {.value = false}), "i32");
  EXPECT_EQ(print(16, {.value = false}), "i32");
  EXPECT_EQ(print(16, {.alignment = false}), "i32");
  EXPECT_EQ(print(1, {.alignment = false}), "1");
}

TEST(Classify, unsigned_only_beyond_the_signed_range) {
  EXPECT_EQ(printed(classifyUnsigned(1)), "1");
  EXPECT_EQ(classifyUnsigned(48), classifyInteger(48));
  EXPECT_EQ(printed(classifyUnsigned(~uint64_t{0})), "u64");
  EXPECT_EQ(printed(classifyUnsigned(uint64_t{1} << 63)), "u64:16");
  EXPECT_EQ(printed(classifyUnsigned((uint64_t{1} << 63) + 8)), "u64");
  EXPECT_EQ(printed(number(ArgumentLeaf::Kind::UInt, uint64_t{1} << 63)), "u64:16");
  EXPECT_EQ(printed(number(ArgumentLeaf::Kind::Int, uint64_t{1} << 63)), "i64:16");
  EXPECT_EQ(printed(classifyUnsigned(uint64_t{1} << 63, {.alignment = false})), "u64");
}

TEST(Classify, pointers_by_address_and_storage) {
  EXPECT_EQ(printed(classifyPointer(64, ScalarType::BFloat16)), "*bf16:16");
  EXPECT_EQ(printed(classifyPointer(8, ScalarType::BFloat16), /*isConst=*/true), "*kbf16");
  EXPECT_EQ(printed(classifyPointer(64, ScalarType::BFloat16, /*isWithin2GiB=*/true)), "*bf16:16:S");
  EXPECT_EQ(printed(classifyPointer(64, ScalarType::BFloat16, true, {.value = false})), "*bf16");
  EXPECT_EQ(printed(classifyPointer(64, ScalarType::BFloat16, true, {.alignment = false})), "*bf16:S");
}

TEST(Classify, types_and_letters_as_hooks_show_them) {
  EXPECT_EQ(classifyInteger(1).text(), "constexpr");
  EXPECT_EQ(classifyInteger(32).text(), "i32");
  EXPECT_EQ(classifyInteger(32).letters(), "D");
  EXPECT_EQ(classifyInteger(33).letters(), "");
  EXPECT_EQ(classifyPointer(16, ScalarType::Float8E5, true).text(), "*fp8e5");
  EXPECT_EQ(classifyPointer(16, ScalarType::Float8E5, true).text(/*isConst=*/true), "*kfp8e5");
  EXPECT_EQ(classifyPointer(16, ScalarType::Float8E5, true).letters(), "DS");
  EXPECT_EQ(classifyPointer(8, ScalarType::Float8E5, true).letters(), "S");
  EXPECT_EQ(number(ArgumentLeaf::Kind::Bool, 1).text(), "u1");
  EXPECT_EQ(number(ArgumentLeaf::Kind::Bool, 1).letters(), std::nullopt);
  EXPECT_EQ(number(ArgumentLeaf::Kind::Float, 16).text(), "fp32");
  EXPECT_EQ(number(ArgumentLeaf::Kind::Float, 16).letters(), std::nullopt);
}

TEST(Classify, keys_are_equal_for_equal_classes_alone) {
  std::vector<ArgumentClass> classes{number(ArgumentLeaf::Kind::Bool, 0), number(ArgumentLeaf::Kind::Float, 0)};
  for (int64_t value : {int64_t{1}, int64_t{2}, int64_t{16}, int64_t{1} << 40, (int64_t{1} << 40) + 1})
    classes.push_back(classifyInteger(value));
  for (uint64_t value : {uint64_t{1} << 63, (uint64_t{1} << 63) + 1})
    classes.push_back(classifyUnsigned(value));
  for (const nereid::artifact::ElementInfo &info : nereid::artifact::kElementTypes)
    for (uint64_t address : {8, 16})
      for (bool isSmall : {false, true})
        classes.push_back(classifyPointer(address, info.type, isSmall));
  std::map<std::array<char, 2>, ArgumentClass> byKey;
  for (const ArgumentClass &each : classes)
    EXPECT_EQ(byKey.emplace(each.key(), each).first->second, each);
  EXPECT_EQ(byKey.size(), classes.size());
}

static std::vector<ArgumentClass> classesOf(const std::vector<int64_t> &values, SpecializeRule rule) {
  std::vector<ArgumentClass> found;
  for (const int64_t value : values)
    if (const ArgumentClass itsClass = classifyInteger(value, rule); std::ranges::find(found, itsClass) == found.end())
      found.push_back(itsClass);
  std::ranges::sort(found, {}, &ArgumentClass::key);
  return found;
}

TEST(Classify, integers_of_each_class_have_those_of_every_member) {
  for (const int64_t base :
       {int64_t{-40}, int64_t{INT32_MIN} - 70, int64_t{INT32_MAX} - 70, INT64_MIN, INT64_MAX - 140})
    for (int64_t first = base; first < base + 34; ++first)
      for (const uint64_t step : {1, 2, 3, 8, 16, 24, 48})
        for (const int64_t last : {first, first + 5, first + 106}) {
          std::vector<int64_t> members;
          for (int64_t value = first;; value += static_cast<int64_t>(step)) {
            members.push_back(value);
            if (static_cast<uint64_t>(last) - static_cast<uint64_t>(value) < step)
              break;
          }
          const std::vector<int64_t> chosen = integersOfEachClass(first, last, step);
          for (const int64_t value : chosen)
            EXPECT_NE(std::ranges::find(members, value), members.end()) << value;
          for (const SpecializeRule rule :
               {SpecializeRule{}, SpecializeRule{.value = false}, SpecializeRule{.alignment = false}})
            EXPECT_EQ(classesOf(chosen, rule), classesOf(members, rule)) << first << " " << last << " " << step;
        }
}

TEST(Classify, integers_of_each_class_of_the_whole_range) {
  EXPECT_EQ(classesOf(integersOfEachClass(INT64_MIN, INT64_MAX, 1), {}).size(), 5U);
  EXPECT_EQ(integersOfEachClass(INT64_MIN, INT64_MAX, 1).size(), 5U);
  EXPECT_EQ(integersOfEachClass(0, INT64_MAX, uint64_t{1} << 62).size(), 2U);
  EXPECT_TRUE(integersOfEachClass(1, 0, 1).empty());
}
