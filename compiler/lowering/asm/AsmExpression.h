// Evaluates the arguments of an assembler's directives.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace nereid::lowering {

/// A sum of a number and of distances between labels.
struct AsmValue {
  int64_t number = 0;
  bool hasLabels = false; ///< `2f-1f`, `.-x`
};

/// The value of `(1 << 4) + 2f - 1f`; nothing for what is no expression, needs more than 64 bits or computes anything
/// but sums of labels.
std::optional<AsmValue> evaluateAsm(llvm::StringRef text);

} // namespace nereid::lowering
