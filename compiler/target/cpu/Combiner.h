// What the regions of reduce, scan and map_elementwise compute, as far as their emission depends on it.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Operation.h"

namespace llvm {
class Constant;
}

namespace nereid::cpu {

class LaneEmitter;

/// The one op of a region that returns op(left, right); null for other regions.
mlir::Operation *singleCombiner(mlir::Operation *op);
/// A value that changes nothing when combined, as a scalar; null where none is known.
llvm::Constant *identityOf(LaneEmitter &lanes, mlir::Operation *combiner);
/// A region with control flow or memory accesses of its own is run lane by lane.
bool needsScalars(mlir::Operation *op);

} // namespace nereid::cpu
