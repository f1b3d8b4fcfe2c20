// Emits one root of a nest, chunk by chunk.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/nest/AddressEmitter.h"
#include "compiler/target/cpu/emit/nest/ElementEmitter.h"
#include "compiler/target/cpu/emit/nest/LaneLoop.h"
#include "compiler/target/cpu/emit/nest/MemoryEmitter.h"

namespace nereid::cpu {

/// The nest's emitter calls the public members at the points that they name.
class RootEmitter {
public:
  RootEmitter(NestContext &context, const Root &root)
      : context(context), ir(context.ir), nest(context.nest), levels(context.levels), chunk(context.chunk), root(root) {
  }
  virtual ~RootEmitter() = default;

  /// Before all loops.
  virtual void prepare() {}
  /// Before the loop over the root's axis, inside the loops over other dimensions.
  virtual void begin() {}
  /// The chunk at the innermost level.
  virtual mlir::LogicalResult emit(unsigned level) = 0;
  /// Processes the `count` elements at which no prefix mask holds at once; false where they must be emitted chunk by
  /// chunk.
  virtual bool emitInactive(unsigned /*level*/, llvm::Value * /*count*/) { return false; }
  /// After the loop over the root's axis.
  virtual mlir::LogicalResult finish(unsigned /*level*/) { return mlir::success(); }

protected:
  /// The element of a tile of the nest's shape.
  Element evaluate(mlir::Value tile, unsigned level) {
    return context.elements.evaluate(tile, context.identity(), level);
  }
  /// The elements of the op's operands in the chunk, all as vectors.
  mlir::FailureOr<llvm::SmallVector<llvm::Value *>> evaluateOperands(unsigned level);
  /// The region's results for these arguments: scalars, or vectors of a chunk's lanes.
  mlir::FailureOr<llvm::SmallVector<llvm::Value *>> applyRegion(llvm::ArrayRef<llvm::Value *> args);
  mlir::FailureOr<llvm::SmallVector<llvm::Value *>> combine(llvm::ArrayRef<llvm::Value *> left,
                                                            llvm::ArrayRef<llvm::Value *> right);
  /// Writes the chunk's elements of a tile of the nest's shape to the buffer, or a part of it, at `base`.
  void writeTile(llvm::Value *base, BufferId buffer, Element element, mlir::Type tile, unsigned level);
  /// Writes them to the buffer of a result.
  void writeResult(unsigned result, Element element, unsigned level) {
    writeTile(context.buffers.at(root.buffers[result]), root.buffers[result], element,
              root.op->getResult(result).getType(), level);
  }

  NestContext &context;
  llvm::IRBuilder<> &ir;
  const Nest &nest;
  NestLevels &levels;
  const Chunk &chunk;
  const Root &root;
};

/// For RootTraits::emitter.
template <class Emitter> std::unique_ptr<RootEmitter> makeEmitter(NestContext &context, const Root &root) {
  return std::make_unique<Emitter>(context, root);
}

/// Of a tile that is written to a buffer: RootKind::Materialise and Assign.
std::unique_ptr<RootEmitter> makeTileEmitter(NestContext &context, const Root &root);

} // namespace nereid::cpu
