// Estimates how the lengths of a kernel's programs change along the grid.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::nvidia {

/// Along the grid's first axis.
enum class LengthTrend : uint8_t { Equal, Grows, Shrinks };

/// Compares the iterations of the loops for some programs and likely arguments. Equal where these are not computed from
/// indices of programs and integer arguments. The answer is a hint: an order of programs that follows it is right for
/// any lengths.
LengthTrend lengthTrendOf(llvm::ArrayRef<mlir::scf::ForOp> loops);

} // namespace nereid::nvidia
