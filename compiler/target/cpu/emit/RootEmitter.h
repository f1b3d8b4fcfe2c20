// Emits one root of a nest, chunk by chunk.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/NestEmitter.h"

namespace nereid::cpu {

/// The nest's emitter calls these members at the points that they name; an emitter of a root uses the public members of
/// the nest's.
class RootEmitter {
public:
  RootEmitter(NestEmitter &emitter, const Root &root)
      : emitter(emitter), context(emitter.context), ir(emitter.ir), nest(emitter.nest), root(root) {}
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
  NestEmitter &emitter;
  EmitContext &context;
  llvm::IRBuilder<> &ir;
  const Nest &nest;
  const Root &root;
};

/// For RootTraits::emitter.
template <class Emitter> std::unique_ptr<RootEmitter> makeEmitter(NestEmitter &nest, const Root &root) {
  return std::make_unique<Emitter>(nest, root);
}

} // namespace nereid::cpu
