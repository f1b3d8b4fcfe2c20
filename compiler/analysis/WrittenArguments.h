// Which arguments of a kernel stand for memory that it may write.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/SmallBitVector.h"

namespace nereid::analysis {

/// One bit for each argument: set where what is made of a pointer reaches a store or an atomic, here or in a function
/// that is called, or goes where it cannot be followed (into a number, into memory, into an op that says nothing of its
/// effects). Never set for a number.
llvm::SmallBitVector writtenArguments(tt::FuncOp kernel);

} // namespace nereid::analysis
