// Element types by XLA's numbers, and which of them a kernel's pointer accepts.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/ElementType.h"

#include <string>

namespace nereid::xla {

/// A set of element types, tested at every call.
class ElementTypes {
public:
  /// The types that a pointer to such elements accepts: "fp32" of "*fp32". All one-byte types for a type that XLA
  /// lacks; every type where the spelling is empty, since the payload does not contain it.
  static ElementTypes takenBy(std::string_view pointee);

  bool contain(int32_t xlaCode) const { return takesAll || (xlaCode >= 0 && xlaCode < 64 && bits >> xlaCode & 1); }

private:
  uint64_t bits = 0;
  bool takesAll = false;
};

/// "f32", or a text with the number of an unknown type.
std::string xlaName(int32_t xlaCode);

/// Null for an unknown type.
const artifact::ElementInfo *findXlaType(int32_t xlaCode);

} // namespace nereid::xla
