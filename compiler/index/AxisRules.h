// Declares the transfer function of each op on axis info.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/index/AxisInfo.h"

namespace nereid::index {

/// Nothing is known of a value of `type`.
AxisInfo unknownInfo(mlir::Type type);
/// The info of `op`'s one result, without hints in its attributes.
AxisInfo transfer(mlir::Operation *op, const AxisInfoAnalysis &known);
/// Adds the hints `tt.divisibility`, `tt.contiguity` and `tt.constancy`; each may be null.
void addHints(AxisInfo &info, mlir::Attribute divisibility, mlir::Attribute contiguity, mlir::Attribute constancy);
/// l + r * factor, with what is known of no number beside.
AxisInfo sumOf(const AxisInfo &l, const AxisInfo &r, AxisInfo unknown, int64_t factor = 1);
/// The info of integer arithmetic and selects; nothing for other ops.
std::optional<AxisInfo> transferArithmetic(mlir::Operation *op, llvm::ArrayRef<AxisInfo> operands,
                                           const AxisInfo &unknown);

} // namespace nereid::index
