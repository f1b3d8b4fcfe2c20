// Reads elements of every type.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/ElementFormat.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nereid::runtime {

using namespace artifact;

ElementFormat::ElementFormat(std::string_view name)
    : isPointer(name == "ptr"), info(infoOf(elementOfSignature(name).value_or(ElementType::UInt64))) {}

uint64_t readBits(const ElementInfo &info, const void *data, int64_t index) {
  const unsigned bits = info.storageBits();
  const uint64_t first = static_cast<uint64_t>(index) * bits;
  uint64_t value = 0;
  std::memcpy(&value, static_cast<const char *>(data) + first / 8, bytesOfBits(bits));
  return bits < 8 ? value >> first % 8 & ((1u << bits) - 1) : value;
}

double floatOf(const ElementInfo &info, uint64_t bits) {
  const uint64_t digits = bits & ((uint64_t{1} << info.mantissaBits) - 1);
  const int most = (1 << info.exponentBits) - 1;
  const int exponent = static_cast<int>(bits >> info.mantissaBits) & most;
  const bool isNegative = bits >> (info.bits - 1) & 1;
  double size = std::ldexp(static_cast<double>(digits + (exponent ? uint64_t{1} << info.mantissaBits : 0)),
                           std::max(exponent, 1) - info.bias - info.mantissaBits);
  switch (info.special) {
  case SpecialValues::None:
    break;
  case SpecialValues::Ieee:
    if (exponent == most)
      size = digits ? std::nan("") : HUGE_VAL;
    break;
  case SpecialValues::OneNan:
    if (exponent == most && digits + 1 == uint64_t{1} << info.mantissaBits)
      size = std::nan("");
    break;
  case SpecialValues::Fnuz:
    if (isNegative && exponent == 0 && digits == 0)
      return std::nan("");
    break;
  }
  return isNegative ? -size : size;
}

} // namespace nereid::runtime
