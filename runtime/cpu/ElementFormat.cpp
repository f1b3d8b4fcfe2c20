// Reads elements of every type.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/ElementFormat.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace nereid::runtime {

ElementFormat::ElementFormat(std::string_view name) {
  static constexpr std::pair<std::string_view, FloatFormat> floats[] = {{"fp64", {64, 52, 1023}},
                                                                        {"fp32", {32, 23, 127}},
                                                                        {"fp16", {16, 10, 15}},
                                                                        {"bf16", {16, 7, 127}},
                                                                        {"fp8e5", {8, 2, 15}},
                                                                        {"fp8e5b16", {8, 2, 16, true}},
                                                                        {"fp8e4nv", {8, 3, 7, false, true}},
                                                                        {"fp8e4b8", {8, 3, 8, true}}};
  for (const auto &[known, layout] : floats)
    if (known == name) {
      isFloat = true;
      format = layout;
      bits = layout.bits;
      return;
    }
  isPointer = name == "ptr";
  bits = 64;
  if (isPointer)
    return;
  isSigned = name.front() == 'i';
  bits = static_cast<unsigned>(std::atoi(name.data() + 1));
  isBool = bits == 1;
}

uint64_t readBits(const ElementFormat &format, const void *data, int64_t index) {
  uint64_t value = 0;
  std::memcpy(&value, static_cast<const char *>(data) + index * format.bytes(), format.bytes());
  return value;
}

double floatOf(const FloatFormat &format, uint64_t bits) {
  const unsigned exponentBits = format.bits - 1 - format.mantissa;
  const uint64_t digits = bits & ((uint64_t{1} << format.mantissa) - 1);
  const auto exponent = static_cast<int>(bits >> format.mantissa & ((1u << exponentBits) - 1));
  const bool isNegative = bits >> (format.bits - 1) & 1;
  const int most = (1 << exponentBits) - 1;
  double size = std::ldexp(static_cast<double>(digits + (exponent ? uint64_t{1} << format.mantissa : 0)),
                           std::max(exponent, 1) - format.bias - static_cast<int>(format.mantissa));
  if (format.isFnuz) {
    if (isNegative && exponent == 0 && digits == 0)
      return std::nan("");
  } else if (format.isE4m3fn) {
    if (exponent == most && digits == 7)
      size = std::nan("");
  } else if (exponent == most) {
    size = digits ? std::nan("") : HUGE_VAL;
  }
  return isNegative ? -size : size;
}

} // namespace nereid::runtime
