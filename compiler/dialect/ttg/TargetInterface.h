// What passes and the lowering of `ttg` ask of a GPU vendor. The vendor's own dialect implements it.
// SPDX-License-Identifier: MIT
//
// A vendor's dialect is loaded into the context; its passes' library adds the implementation to it. Functions below
// find the one that a module's target or an attribute belongs to.
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Conversion.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectInterface.h"

#include <optional>

namespace nereid::ttg {

/// Threads of a CTA.
struct ThreadCounts {
  unsigned numWarps = 4, threadsPerWarp = 32;
};

/// The matrix instructions that a GPU has.
struct MmaFeatures {
  bool hasWarpMma = false;      ///< by the threads of a warp, from registers
  bool hasWarpGroupMma = false; ///< by several warps, from shared memory
  unsigned maxSharedBytes = 0;  ///< of a CTA, which operands in shared memory must fit
};

/// Which accesses to matrices in shared memory a GPU has.
struct MatrixAccesses {
  bool hasLdmatrix = false, hasStmatrix = false;
};

/// A kernel parameter that is passed by value, in memory.
struct ByValueParameter {
  uint32_t bytes = 0, alignment = 1;
};

class TargetInterface : public mlir::DialectInterface::Base<TargetInterface> {
public:
  explicit TargetInterface(mlir::Dialect *dialect) : Base(dialect) {}

  /// Whether the vendor's GPUs are meant by a target such as `cuda:90`.
  virtual bool isTarget(llvm::StringRef target) const = 0;
  /// The parameter that an attribute of the dialect makes of a kernel's argument; none for other attributes.
  virtual std::optional<ByValueParameter> parameterByValue(mlir::NamedAttribute attribute) const = 0;

  virtual MatrixAccesses matrixAccesses(llvm::StringRef target) const = 0;

  //--- dots ---
  /// The layout of a dot's result in which matrix instructions compute it; null where there are none for it.
  virtual LayoutEncoding dotLayout(tt::DotOpInterface dot, const MmaFeatures &features, ThreadCounts threads) const = 0;
  /// The layout of an operand of a dot other than its accumulator, by its number, where the result has the layout
  /// `accumulator`, of a matrix instruction; null where it goes to shared memory.
  virtual LayoutEncoding operandLayout(tt::DotOpInterface dot, unsigned operand, LayoutEncoding accumulator) const = 0;
  /// Whether dots by matrix instructions read operands from shared memory themselves, step by step along k.
  virtual bool readsOperandsInDots() const { return false; }

  //--- barriers in shared memory, which count the bytes of asynchronous copies ---
  /// The type of a buffer of `count` barriers; with 0, that of one such barrier.
  virtual MemDescType barrierType(mlir::MLIRContext *context, unsigned count) const = 0;
  virtual void createInit(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barriers) const = 0;
  /// Creates the op by which a barrier expects `bytes` of copies; it does nothing where `predicate` (i1) is false.
  virtual mlir::Operation *createExpect(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier,
                                        unsigned bytes, mlir::Value predicate) const = 0;
  /// Creates the op that waits for the phase of that parity (i32).
  virtual mlir::Operation *createWait(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barrier,
                                      mlir::Value phase) const = 0;
  virtual void createInvalidate(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value barriers) const = 0;

  //--- pipelined loops ---
  /// Whether the target copies the tile of a load or of a copy to shared memory asynchronously where `pattern` fills
  /// the buffer, by vectors of so many bytes.
  virtual bool copiesAsync(mlir::Operation *access, const layout::SharedAccessPattern &pattern,
                           unsigned vectorBytes) const {
    return true;
  }
  /// Makes dots of the loop, which read the multi-buffered allocations, run asynchronously over the end of an
  /// iteration. Returns the op in the loop that waits for those of the iteration before; null where no dot can.
  virtual mlir::Operation *makeDotsAsync(mlir::scf::ForOp loop, llvm::ArrayRef<mlir::Value> multiBuffers,
                                         mlir::RewriterBase &rewriter) const = 0;
  /// Erases fences in the loop for buffers that threads no longer fill there.
  virtual void eraseIdleFences(mlir::scf::ForOp loop, mlir::RewriterBase &rewriter) const = 0;
};

/// The interface of the target that the op's module has, or of `target`; null where no loaded dialect serves it.
const TargetInterface *targetInterfaceOf(mlir::Operation *op);
const TargetInterface *targetInterfaceOf(mlir::MLIRContext *context, llvm::StringRef target);

/// Which accesses to matrices the target of the op's module has; all where no loaded dialect serves it.
MatrixAccesses matrixAccessesOf(mlir::Operation *op);

/// How a conversion inside the op's module executes, on the module's target.
layout::ConversionPlan planConversion(mlir::Operation *op, mlir::RankedTensorType from, mlir::RankedTensorType to);
layout::ConversionPlan planConversion(ConvertLayoutOp op);

/// How argument `index` of a kernel is passed, where by value in memory.
std::optional<ByValueParameter> parameterByValue(tt::FuncOp kernel, unsigned index);

} // namespace nereid::ttg
