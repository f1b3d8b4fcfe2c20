// The words of an argument's class, and the classes of ranges of integers.
// SPDX-License-Identifier: MIT
#include "jit/Classify.h"

#include <algorithm>

namespace nereid::jit {

std::string ArgumentClass::text(bool isConst) const {
  return form == Form::One ? "constexpr" : typeText(spec(isConst));
}

std::optional<std::string_view> ArgumentClass::letters() const {
  if (form == Form::Scalar && !artifact::infoOf(type).isInteger())
    return std::nullopt;
  if (isAligned)
    return isWithin2GiB ? "DS" : "D";
  return isWithin2GiB ? "S" : "";
}

ArgumentSpec ArgumentClass::spec(bool isConst) const {
  if (form == Form::One)
    return ArgumentSpec::constant("1");
  return form == Form::Scalar ? ArgumentSpec::scalar(type, isAligned ? 16 : 1)
                              : ArgumentSpec::pointer(type, isAligned ? 16 : 1, isConst, isWithin2GiB);
}

// Between two of these limits a class depends on the remainder modulo 16 alone, which 16 members in a row go through.
std::vector<int64_t> integersOfEachClass(int64_t first, int64_t last, uint64_t step) {
  constexpr int64_t limits[] = {INT64_MIN, -int64_t{INT32_MAX} - 1, 1, 2, int64_t{INT32_MAX} + 1};
  constexpr uint64_t period = 16;
  std::vector<int64_t> found;
  std::vector<ArgumentClass> classes;
  if (first > last)
    return found;
  const auto distance = [](int64_t from, int64_t to) {
    return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  };
  const uint64_t lastIndex = distance(first, last) / step;
  for (const int64_t limit : limits) {
    if (limit > last)
      break;
    const uint64_t gap = limit > first ? distance(first, limit) : 0;
    const uint64_t begin = gap / step + (gap % step ? 1 : 0); // of the members from `limit` on
    for (uint64_t index = begin; index <= lastIndex && index - begin < period; ++index) {
      const auto value = static_cast<int64_t>(static_cast<uint64_t>(first) + index * step);
      const ArgumentClass itsClass = classifyInteger(value);
      if (std::ranges::find(classes, itsClass) != classes.end())
        continue;
      classes.push_back(itsClass);
      found.push_back(value);
    }
  }
  return found;
}

} // namespace nereid::jit
