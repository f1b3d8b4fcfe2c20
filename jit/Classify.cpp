// The words of an argument's class.
// SPDX-License-Identifier: MIT
#include "jit/Classify.h"

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

} // namespace nereid::jit
