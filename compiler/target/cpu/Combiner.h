// Properties of the regions of reduce, scan and map_elementwise that their emission depends on.
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
/// The identity element of a combiner, as a scalar; null where none is known.
llvm::Constant *identityOf(LaneEmitter &lanes, mlir::Operation *combiner);
/// Whether a region has control flow or memory accesses of its own and so runs lane by lane.
bool needsScalars(mlir::Operation *op);

} // namespace nereid::cpu
