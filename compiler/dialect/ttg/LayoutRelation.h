// Describes how the layouts of an op's operands and results follow from one another.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace nereid::ttg {

class LayoutEncoding;

/// How the layout of one tile follows from that of another.
struct LayoutTransfer {
  enum class Kind { Same, Slice, Expand, Transpose, Reshape, Join, Concatenate } kind = Kind::Same;
  unsigned axis = 0;                   ///< Slice, Expand
  llvm::SmallVector<int32_t> order;    ///< Transpose
  llvm::SmallVector<int64_t> from, to; ///< shapes at both ends

  LayoutEncoding forward(LayoutEncoding start) const;
  /// A layout at the start whose forward is `end`; null where there is none.
  LayoutEncoding backward(LayoutEncoding end) const;
};

/// The transfer of that kind from the tile `from` to the tile `to`.
LayoutTransfer transferBetween(LayoutTransfer::Kind kind, mlir::Type from, mlir::Type to);

/// How the layout of one operand or result relates to that of its op.
struct LayoutLink {
  enum class Kind {
    Any,        ///< an operand in any layout; a result in a layout of its own
    Same,       ///< the op's layout, united with it: no conversion lies in between
    FromOp,     ///< follows from the op's by `transfer`; a conversion may lie in between
    ToOp,       ///< the op's follows from it by `transfer`; a conversion may lie in between
    DotOperand, ///< the target chooses it for the dot's accumulator
  } kind = Kind::Any;
  LayoutTransfer transfer;
};

/// An op works in the layout of one tile, its own; the layouts of operands and results relate to that one.
struct LayoutRelation {
  /// Who chooses the op's layout.
  enum class Choice {
    Free,        ///< costs alone decide
    Accumulator, ///< the target, for a dot
    Copy,        ///< the target, for a tile that comes through shared memory, which can be read in any layout
  } choice = Choice::Free;
  mlir::RankedTensorType tile;            ///< null where the op has scalars alone
  std::optional<unsigned> combinedAxis;   ///< of a reduction or scan
  llvm::SmallVector<LayoutLink> operands; ///< one for each; scalars have `Any`
  llvm::SmallVector<LayoutLink> results;

  LayoutRelation() = default;
  /// Relates nothing: all operands and results are in any layout.
  LayoutRelation(mlir::Operation *op, mlir::Type tile);
  /// Unites the tiles among the operands, or among the results, with the op.
  void uniteOperands(mlir::Operation *op);
  void uniteResults(mlir::Operation *op);
};

/// The buffer in shared memory that an op needs while it runs.
struct Scratch {
  uint32_t bytes = 0;
  unsigned barriers = 0; ///< that the op's emitter inserts between writes and reads of the buffer
  bool isKept = false;   ///< others may read it when the op has ended: no other op uses the same bytes
  /// Each warp accesses a part of its own, the same whenever the op runs; the emitter synchronises the warp before the
  /// op's first access.
  bool isOfWarps = false;

  /// A buffer that is written, then read; none where `bytes` is 0.
  static Scratch writtenOnce(uint32_t bytes) { return {bytes, bytes ? 1u : 0u}; }
};

} // namespace nereid::ttg
