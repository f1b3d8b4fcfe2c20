// Emits a nest in as many versions as it needs, of which the kernel chooses one before it.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

namespace nereid::cpu {

class VersionEmitter {
public:
  VersionEmitter(EmitContext &context, const Nest &nest) : context(context), ir(context.ir), nest(nest) {}
  mlir::LogicalResult run();

private:
  using Emit = llvm::function_ref<mlir::LogicalResult()>;

  mlir::LogicalResult emitVersions(llvm::Value *condition, Emit whenTrue, Emit whenFalse);
  mlir::LogicalResult emitMade();
  mlir::LogicalResult emitUnlessInPlace();
  mlir::LogicalResult emitTransposed();
  mlir::LogicalResult emitExactOrNot();
  mlir::LogicalResult emitCopiedOrNot();
  mlir::LogicalResult emitPeeled(const Nest &version);
  std::optional<Redirect> memoryOf(tt::LoadOp load);
  llvm::Value *isWhole(tt::LoadOp load);
  llvm::Value *findWraps();

  EmitContext &context;
  llvm::IRBuilder<> &ir;
  const Nest &nest;
  llvm::Value *anyWraps = nullptr; ///< whether a compared addition overflows; null where none can
};

} // namespace nereid::cpu
