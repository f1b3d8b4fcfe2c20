// What each op does to facts along the dimensions of a tile.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/AxisInfo.h"

namespace nereid::analysis {

/// Nothing is known of a value of `type`.
AxisInfo unknownInfo(mlir::Type type);
/// The facts of `op`'s one result, without what its attributes promise.
AxisInfo transfer(mlir::Operation *op, const AxisInfoAnalysis &known);
/// Adds what `tt.divisibility`, `tt.contiguity` and `tt.constancy` promise; any of them may be null.
void addHints(AxisInfo &info, mlir::Attribute divisibility, mlir::Attribute contiguity, mlir::Attribute constancy);
/// The facts of arithmetic on integers and of a select; nothing where `op` is neither.
std::optional<AxisInfo> transferArithmetic(mlir::Operation *op, llvm::ArrayRef<AxisInfo> operands,
                                           const AxisInfo &unknown);

} // namespace nereid::analysis
