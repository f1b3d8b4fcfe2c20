// Tests that compile-time numbers combine, compare and print as in Python.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Numbers.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace nereid::sema;
using nereid::syntax::BinaryOperator;

namespace {

Value integer(int64_t number) { return Value::integer(number); }

/// The result's repr, or the name of the error.
std::string combine(BinaryOperator op, const Value &left, const Value &right) {
  NumberResult result = combineNumbers(op, left, right);
  if (const Value *value = std::get_if<Value>(&result))
    return value->repr();
  switch (std::get<NumberError>(result)) {
  case NumberError::DivisionByZero:
    return "division by zero";
  case NumberError::NegativeShift:
    return "negative shift";
  case NumberError::TooLarge:
    return "too large";
  case NumberError::FloatOverflow:
    return "overflow";
  case NumberError::Unsupported:
    return "unsupported";
  }
  return "?";
}

Value powerOfTwo(int64_t exponent) {
  return std::get<Value>(combineNumbers(BinaryOperator::LeftShift, integer(1), integer(exponent)));
}

TEST(Numbers, FloorDivisionAndModuloFollowTheDivisorsSign) {
  EXPECT_EQ(combine(BinaryOperator::FloorDiv, integer(-7), integer(2)), "-4");
  EXPECT_EQ(combine(BinaryOperator::FloorDiv, integer(7), integer(-2)), "-4");
  EXPECT_EQ(combine(BinaryOperator::Mod, integer(-7), integer(2)), "1");
  EXPECT_EQ(combine(BinaryOperator::Mod, integer(7), integer(-2)), "-1");
  EXPECT_EQ(combine(BinaryOperator::Mod, -7.5, integer(2)), "0.5");
  EXPECT_EQ(combine(BinaryOperator::Mod, 7.5, integer(-2)), "-0.5");
  EXPECT_EQ(combine(BinaryOperator::FloorDiv, 1.0, 0.1), "9.0");
  EXPECT_EQ(combine(BinaryOperator::FloorDiv, -0.5, integer(2)), "-1.0");
  EXPECT_EQ(combine(BinaryOperator::FloorDiv, integer(std::numeric_limits<int64_t>::min()), integer(-1)),
            "9223372036854775808");
  EXPECT_EQ(combine(BinaryOperator::Mod, integer(std::numeric_limits<int64_t>::min()), integer(-1)), "0");
}

TEST(Numbers, TrueDivisionIsCorrectlyRounded) {
  EXPECT_EQ(combine(BinaryOperator::Div, integer(1), integer(3)), "0.3333333333333333");
  EXPECT_EQ(combine(BinaryOperator::Div, integer(6), integer(2)), "3.0");
  EXPECT_EQ(combine(BinaryOperator::Div, integer(-7), integer(2)), "-3.5");
  // Rounding both sides to doubles first would give 1.0.
  EXPECT_EQ(combine(BinaryOperator::Div, integer(9007199254740995), integer(9007199254740993)), "1.0000000000000002");
  EXPECT_EQ(combine(BinaryOperator::Div, powerOfTwo(2000), powerOfTwo(1999)), "2.0");
  EXPECT_EQ(combine(BinaryOperator::Div, integer(1), powerOfTwo(1074)), "5e-324");
  EXPECT_EQ(combine(BinaryOperator::Div, powerOfTwo(2000), integer(3)), "overflow");
}

TEST(Numbers, IntegersGrowAndStopAtTheLimit) {
  EXPECT_EQ(combine(BinaryOperator::Mult, integer(4294967296), integer(4294967296)), "18446744073709551616");
  EXPECT_EQ(combine(BinaryOperator::Pow, integer(2), integer(100)), "1267650600228229401496703205376");
  EXPECT_EQ(combine(BinaryOperator::Pow, integer(-3), integer(3)), "-27");
  EXPECT_EQ(combine(BinaryOperator::Pow, integer(-1), powerOfTwo(100)), "1");
  EXPECT_EQ(combine(BinaryOperator::Pow, integer(2), integer(-2)), "0.25");
  EXPECT_EQ(combine(BinaryOperator::Pow, integer(10), integer(1000000000)), "too large");
  EXPECT_EQ(combine(BinaryOperator::LeftShift, integer(1), integer(1000000000)), "too large");
  EXPECT_EQ(combine(BinaryOperator::LeftShift, integer(0), integer(1000000000)), "0");
  EXPECT_EQ(combine(BinaryOperator::Mult, powerOfTwo(10000), powerOfTwo(10000)), "too large");
}

TEST(Numbers, BitsOfNegativeAndWideIntegers) {
  EXPECT_EQ(combine(BinaryOperator::RightShift, integer(-5), integer(1)), "-3");
  EXPECT_EQ(combine(BinaryOperator::RightShift, integer(-5), integer(1000)), "-1");
  EXPECT_EQ(combine(BinaryOperator::RightShift, powerOfTwo(100), integer(98)), "4");
  EXPECT_EQ(combine(BinaryOperator::LeftShift, integer(1), integer(-1)), "negative shift");
  EXPECT_EQ(combine(BinaryOperator::BitAnd, integer(-1), powerOfTwo(70)), "1180591620717411303424");
  EXPECT_EQ(combine(BinaryOperator::BitOr, integer(5), integer(-8)), "-3");
  EXPECT_EQ(combine(BinaryOperator::BitXor, true, false), "True");
  EXPECT_EQ(combine(BinaryOperator::Add, true, true), "2");
}

TEST(Numbers, ErrorsAreThoseOfPython) {
  EXPECT_EQ(combine(BinaryOperator::Div, integer(1), integer(0)), "division by zero");
  EXPECT_EQ(combine(BinaryOperator::Mod, 1.0, 0.0), "division by zero");
  EXPECT_EQ(combine(BinaryOperator::Pow, 0.0, integer(-1)), "division by zero");
  EXPECT_EQ(combine(BinaryOperator::Pow, integer(-8), 0.5), "unsupported");
  EXPECT_EQ(combine(BinaryOperator::Pow, 10.0, integer(400)), "overflow");
  EXPECT_EQ(combine(BinaryOperator::BitAnd, 1.0, integer(1)), "unsupported");
}

TEST(Numbers, ComparisonIsExact) {
  EXPECT_TRUE(compareNumbers(integer(9007199254740993), 9007199254740992.0) > 0);
  EXPECT_TRUE(compareNumbers(powerOfTwo(2000), std::numeric_limits<double>::infinity()) < 0);
  EXPECT_TRUE(compareNumbers(integer(-3), -3.5) > 0);
  EXPECT_TRUE(compareNumbers(3.5, integer(3)) > 0);
  EXPECT_TRUE(compareNumbers(true, 1.0) == 0);
  EXPECT_TRUE(compareNumbers(integer(1), std::nan("")) == std::partial_ordering::unordered);
}

TEST(Numbers, TextIsPythonsRepr) {
  EXPECT_EQ(reprOf(0.1), "0.1");
  EXPECT_EQ(reprOf(-0.0), "-0.0");
  EXPECT_EQ(reprOf(1e16), "1e+16");
  EXPECT_EQ(reprOf(123456789012345.0), "123456789012345.0");
  EXPECT_EQ(reprOf(1e-5), "1e-05");
  EXPECT_EQ(reprOf(0.0001), "0.0001");
  EXPECT_EQ(reprOf(1.7976931348623157e308), "1.7976931348623157e+308");
  EXPECT_EQ(reprOf(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(Value(std::string("it's \\ \n \x01")).repr(), "\"it's \\\\ \\n \\x01\"");
  EXPECT_EQ(Value::tuple({integer(1)}).repr(), "(1,)");
  EXPECT_EQ(Value::tuple({Value(), true, 2.0}).repr(), "(None, True, 2.0)");
}

TEST(Numbers, NaturalTypesFollowTheValue) {
  EXPECT_EQ(naturalScalar(true), Scalar::Int1);
  EXPECT_EQ(naturalScalar(integer(2147483647)), Scalar::Int32);
  EXPECT_EQ(naturalScalar(integer(2147483648)), Scalar::UInt32);
  EXPECT_EQ(naturalScalar(integer(-2147483649)), Scalar::Int64);
  EXPECT_EQ(naturalScalar(powerOfTwo(63)), Scalar::UInt64);
  EXPECT_EQ(naturalScalar(powerOfTwo(64)), std::nullopt);
  EXPECT_EQ(naturalScalar(0.1), Scalar::Float32);
  EXPECT_EQ(naturalScalar(1e-40), Scalar::Float64);
  EXPECT_EQ(naturalScalar(1e39), Scalar::Float64);
  EXPECT_EQ(naturalScalar(std::nan("")), Scalar::Float32);
}

TEST(Numbers, WrappingKeepsTheLowBits) {
  EXPECT_EQ(wrapped(integerOf(integer(-1)), 8), llvm::APInt(8, 255));
  EXPECT_EQ(wrapped(integerOf(powerOfTwo(100)), 64), llvm::APInt(64, 0));
  EXPECT_TRUE(fits(integerOf(integer(-128)), Scalar::Int8));
  EXPECT_FALSE(fits(integerOf(integer(128)), Scalar::Int8));
  EXPECT_FALSE(fits(integerOf(integer(-1)), Scalar::UInt64));
  EXPECT_TRUE(truncated(-1e20) == integerOf(std::get<Value>(combineNumbers(BinaryOperator::Mult, integer(-10000000000),
                                                                           integer(10000000000)))));
}

} // namespace
