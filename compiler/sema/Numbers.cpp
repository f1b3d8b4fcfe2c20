// Conversion, comparison and printing of Python's bool, int and float.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Numbers.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cmath>
#include <limits>

using llvm::APFloat;
using llvm::APInt;
using llvm::DynamicAPInt;

namespace nereid::sema {

//--- Conversion between kinds of numbers ---------------------------------------------------

DynamicAPInt integerOf(const Value &number) {
  if (const bool *truth = number.get<bool>())
    return DynamicAPInt(*truth ? 1 : 0);
  return *number.integer();
}

static bool fitsInt64(const DynamicAPInt &integer) {
  return integer >= std::numeric_limits<int64_t>::min() && integer <= std::numeric_limits<int64_t>::max();
}

// The bits of a DynamicAPInt are accessible only as text.
APInt exact(const DynamicAPInt &integer) {
  if (fitsInt64(integer))
    return APInt(65, static_cast<uint64_t>(int64_t(integer)), /*isSigned=*/true);
  std::string text;
  llvm::raw_string_ostream(text) << integer;
  return APInt(APInt::getSufficientBitsNeeded(text, 10) + 1, text, 10);
}

APInt wrapped(const DynamicAPInt &integer, unsigned bits) { return exact(integer).sextOrTrunc(bits); }

static std::optional<double> doubleOf(const APInt &integer) {
  APFloat result(0.0);
  result.convertFromAPInt(integer, /*IsSigned=*/true, APFloat::rmNearestTiesToEven);
  if (result.isInfinity())
    return std::nullopt;
  return result.convertToDouble();
}

std::optional<double> doubleOf(const Value &number) {
  if (const double *value = number.get<double>())
    return *value;
  return doubleOf(exact(integerOf(number)));
}

DynamicAPInt truncated(double number) {
  llvm::APSInt result(1100, /*isUnsigned=*/false); // a finite double has at most 1024 integer bits
  bool isExact = false;
  APFloat(number).convertToInteger(result, APFloat::rmTowardZero, &isExact);
  APInt bits = result;
  return DynamicAPInt(bits.trunc(std::max(64u, bits.getSignificantBits())));
}

std::optional<Scalar> naturalScalar(const Value &number) {
  if (number.is<bool>())
    return Scalar::Int1;
  if (const DynamicAPInt *integer = number.integer()) {
    for (Scalar scalar : {Scalar::Int32, Scalar::UInt32, Scalar::Int64, Scalar::UInt64})
      if (fits(*integer, scalar))
        return scalar;
    return std::nullopt;
  }
  const double magnitude = std::fabs(*number.get<double>());
  const bool isPlain = magnitude == 0 || std::isinf(magnitude) || std::isnan(magnitude);
  const bool isNormalFloat =
      std::numeric_limits<float>::min() <= magnitude && magnitude <= std::numeric_limits<float>::max();
  return isPlain || isNormalFloat ? Scalar::Float32 : Scalar::Float64;
}

bool fits(const DynamicAPInt &integer, Scalar type) {
  const APInt value = exact(integer);
  if (isSignedInteger(type))
    return value.getSignificantBits() <= bitsOf(type);
  return !value.isNegative() && value.getActiveBits() <= bitsOf(type);
}

//--- Comparison ----------------------------------------------------------------------------

static std::partial_ordering compareIntegers(const DynamicAPInt &left, const DynamicAPInt &right) {
  if (left < right)
    return std::partial_ordering::less;
  return left == right ? std::partial_ordering::equivalent : std::partial_ordering::greater;
}

static std::partial_ordering compareMixed(const DynamicAPInt &left, double right) {
  if (std::isnan(right))
    return std::partial_ordering::unordered;
  if (std::isinf(right))
    return right > 0 ? std::partial_ordering::less : std::partial_ordering::greater;
  const std::partial_ordering whole = compareIntegers(left, truncated(right));
  if (whole != 0)
    return whole;
  return 0.0 <=> (right - std::trunc(right));
}

std::partial_ordering compareNumbers(const Value &left, const Value &right) {
  const double *a = left.get<double>(), *b = right.get<double>();
  if (a && b)
    return *a <=> *b;
  if (b)
    return compareMixed(integerOf(left), *b);
  if (a)
    return 0 <=> compareMixed(integerOf(right), *a);
  return compareIntegers(integerOf(left), integerOf(right));
}

//--- Text ----------------------------------------------------------------------------------

std::string reprOf(double number) {
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific);
  assert(error == std::errc() && "the shortest form of a double has at most 24 characters");
  llvm::StringRef text(buffer, end - buffer);
  std::string sign = text.consume_front("-") ? "-" : "";
  auto [mantissa, exponentText] = text.split('e');
  std::string digits = mantissa.str();
  std::erase(digits, '.');
  const int exponent = std::stoi(exponentText.str());
  if (exponent < -4 || exponent >= 16) {
    std::string power = std::to_string(std::abs(exponent));
    if (power.size() < 2)
      power.insert(0, "0");
    return sign + mantissa.str() + (exponent < 0 ? "e-" : "e+") + power;
  }
  if (exponent < 0)
    return sign + "0." + std::string(-exponent - 1, '0') + digits;
  const size_t whole = exponent + 1;
  if (digits.size() <= whole)
    return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

} // namespace nereid::sema
