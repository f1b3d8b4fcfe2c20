// Reads and writes memory for the lanes of a chunk.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/nest/NestContext.h"

namespace nereid::cpu {

class MemoryEmitter {
public:
  explicit MemoryEmitter(NestContext &context) : context(context), ir(context.ir), chunk(context.chunk) {}

  /// The lanes that the mask sets, all without a mask; `other` (null: zero) elsewhere.
  llvm::Value *read(ChunkAccess access, mlir::Type element, llvm::Value *mask, llvm::Value *other);
  /// The whole chunk where the condition, a scalar, holds; `other` elsewhere.
  llvm::Value *readWhere(llvm::Value *condition, ChunkAccess access, mlir::Type element, llvm::Value *other);
  Element readElement(ChunkAccess access, mlir::Type element, bool isVector);
  /// Writes a scalar, or the lanes of a vector that the mask sets, all without a mask.
  void write(ChunkAccess access, mlir::Type element, llvm::Value *value, llvm::Value *mask);
  /// Prefetches what the same lanes will access in the next iteration or program, where that is planned.
  void prefetchNext(mlir::Operation *op, ChunkAccess access, mlir::Type element);

private:
  llvm::Value *readUnlessWrapped(ChunkAccess access, mlir::Type element, llvm::Value *mask, llvm::Value *other);
  llvm::Value *readWords(ChunkAccess access, llvm::FixedVectorType *type);
  llvm::Value *gatherFromWords(ChunkAccess access, llvm::FixedVectorType *type, llvm::Value *mask, llvm::Value *other);
  llvm::Value *readLanes(ChunkAccess access, llvm::Type *memory, llvm::Value *mask, llvm::Value *other);

  NestContext &context;
  llvm::IRBuilder<> &ir;
  const Chunk &chunk;
};

} // namespace nereid::cpu
