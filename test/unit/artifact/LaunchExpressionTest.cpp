// Tests the expressions that a launcher evaluates: values, values that do not exist, and malformed code.
// SPDX-License-Identifier: MIT
#include "artifact/TensorMapRecipe.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

using namespace nereid::artifact;

using Code = std::vector<int64_t>;
static constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
static constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

/// The value of `left op right`.
static std::optional<int64_t> binary(int64_t op, int64_t left, int64_t right) {
  return evaluate(Code{Constant, left, Constant, right, op}, {});
}

TEST(LaunchExpression, operators) {
  EXPECT_EQ(binary(Add, 7, -2), 5);
  EXPECT_EQ(binary(Sub, 7, -2), 9);
  EXPECT_EQ(binary(Mul, 7, -2), -14);
  EXPECT_EQ(binary(Div, 7, -2), -3);
  EXPECT_EQ(binary(Div, -7, 2), -3);
  EXPECT_EQ(binary(Rem, 7, -2), 1);
  EXPECT_EQ(binary(Rem, -7, 2), -1);
  EXPECT_EQ(binary(Min, 7, -2), -2);
  EXPECT_EQ(binary(Max, 7, -2), 7);
}

TEST(LaunchExpression, arguments_by_number) {
  const int64_t arguments[] = {100, -3, 5};
  // (a0 + a2 * 2) - a1
  EXPECT_EQ(evaluate(Code{Argument, 0, Argument, 2, Constant, 2, Mul, Add, Argument, 1, Sub}, arguments), 113);
}

TEST(LaunchExpression, overflow_and_division_by_zero_have_no_value) {
  EXPECT_EQ(binary(Add, kMost, 1), std::nullopt);
  EXPECT_EQ(binary(Sub, kLeast, 1), std::nullopt);
  EXPECT_EQ(binary(Mul, kMost, 2), std::nullopt);
  EXPECT_EQ(binary(Div, 1, 0), std::nullopt);
  EXPECT_EQ(binary(Rem, 1, 0), std::nullopt);
  EXPECT_EQ(binary(Div, kLeast, -1), std::nullopt);
  EXPECT_EQ(binary(Rem, kLeast, -1), std::nullopt);
  EXPECT_EQ(binary(Add, kMost, 0), kMost);
}

TEST(LaunchExpression, malformed_code_has_no_value) {
  const int64_t arguments[] = {1, 2};
  for (const Code &code : {Code{}, Code{Constant}, Code{Argument, 2}, Code{Argument, -1}, Code{Add},
                           Code{Constant, 1, Add}, Code{Constant, 1, Constant, 2}, Code{Max + 1}, Code{-1, 0}}) {
    EXPECT_FALSE(isWellFormed(code, std::size(arguments)));
    EXPECT_EQ(evaluate(code, arguments), std::nullopt);
  }
}

TEST(LaunchExpression, stack_has_a_limit) {
  const auto sumOf = [](size_t terms) {
    Code code;
    for (size_t i = 0; i < terms; ++i)
      code.insert(code.end(), {Constant, 1});
    code.insert(code.end(), terms - 1, Add);
    return code;
  };
  EXPECT_EQ(evaluate(sumOf(kMaxLaunchStack), {}), static_cast<int64_t>(kMaxLaunchStack));
  EXPECT_EQ(evaluate(sumOf(kMaxLaunchStack + 1), {}), std::nullopt);
}

TEST(LaunchExpression, random_code_never_crashes) {
  std::mt19937_64 random(1);
  const int64_t arguments[] = {kLeast, 0, kMost};
  int valid = 0;
  for (int round = 0; round < 100000; ++round) {
    Code code(random() % 12);
    for (int64_t &word : code)
      word = static_cast<int64_t>(random() % 12) - 1;
    const auto value = evaluate(code, arguments);
    valid += value.has_value();
    EXPECT_TRUE(!value || isWellFormed(code, std::size(arguments)));
  }
  EXPECT_GT(valid, 0);
}

TEST(TensorMapRecipe, lists_and_limits_are_checked) {
  const LaunchExpression one{{Constant, 1}}, pointer{{Argument, 0}};
  const TensorMapRecipe good{pointer, {one, one}, {one}, {64, 256}, 6, 2, 128, false};
  const auto with = [&](auto change) {
    TensorMapRecipe recipe = good;
    change(recipe);
    return isWellFormed(recipe, 1);
  };
  EXPECT_TRUE(isWellFormed(good, 1));
  EXPECT_FALSE(isWellFormed(good, 0));
  EXPECT_FALSE(with([](auto &recipe) { recipe.extents.clear(); }));
  EXPECT_FALSE(with([](auto &recipe) { recipe.strides.clear(); }));
  EXPECT_FALSE(with([](auto &recipe) { recipe.box.push_back(1); }));
  EXPECT_FALSE(with([](auto &recipe) { recipe.box[0] = 257; }));
  EXPECT_FALSE(with([](auto &recipe) { recipe.box[1] = 0; }));
  EXPECT_FALSE(with([](auto &recipe) { recipe.swizzleBytes = 16; }));
  EXPECT_FALSE(with([](auto &recipe) { recipe.swizzleBytes = 96; }));
  EXPECT_FALSE(with([](auto &recipe) { recipe.elementBytes = 3; }));
  EXPECT_FALSE(with([](auto &recipe) { recipe.elementType = 13; }));
  EXPECT_FALSE(with([](auto &recipe) { recipe.extents[1].code = {Add}; }));
}
