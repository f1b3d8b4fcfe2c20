// The words of an argument's class.
// SPDX-License-Identifier: MIT
#include "jit/Classify.h"

namespace nereid::jit {

std::string ArgumentClass::text(bool isConst) const {
  if (form == Form::One)
    return "constexpr";
  const std::string_view prefix = form == Form::Scalar ? "" : isConst ? "*k" : "*";
  return std::string(prefix) += spelling(type);
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
  return form == Form::Scalar ? ArgumentSpec::scalar(type, isAligned)
                              : ArgumentSpec::pointer(type, isAligned, isConst, isWithin2GiB);
}

} // namespace nereid::jit
