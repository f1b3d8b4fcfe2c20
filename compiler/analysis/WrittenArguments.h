// Finds the arguments of a kernel whose memory it may write.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/SmallBitVector.h"

namespace nereid::analysis {

/// One bit per argument: set where a value derived from a pointer reaches a store or an atomic, here or in a callee, or
/// escapes (into a number, into memory, into an op with unknown effects). Never set for a number.
llvm::SmallBitVector writtenArguments(tt::FuncOp kernel);

} // namespace nereid::analysis
