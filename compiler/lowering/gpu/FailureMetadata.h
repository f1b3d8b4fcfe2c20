// Metadata of a call that prints a failure, for readers of the LLVM IR that report failures in their own way.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nereid::lowering {

/// Operands, as strings: message, file, line, function.
inline constexpr llvm::StringLiteral kFailureMetadata = "nereid.failure";

} // namespace nereid::lowering
