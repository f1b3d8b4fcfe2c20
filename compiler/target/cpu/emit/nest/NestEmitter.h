// Emits one nest: its loops, and in each chunk of lanes the element expressions of its roots.
// SPDX-License-Identifier: MIT
//
// The loop over the vector dimension is emitted in up to three parts:
//   main      every prefix mask and every condition of a mask holds: no masks are emitted
//   masked    the chunk that a prefix ends in (all chunks, where a condition fails)
//   inactive  no prefix holds: masked loads give their `other`, memory is not accessed
// A value that does not depend on an inner loop is emitted before that loop.
#pragma once

#include "compiler/target/cpu/emit/nest/AddressEmitter.h"
#include "compiler/target/cpu/emit/nest/ElementEmitter.h"
#include "compiler/target/cpu/emit/nest/MemoryEmitter.h"
#include "compiler/target/cpu/emit/nest/NestBounds.h"

namespace nereid::cpu {

class RootEmitter;

class NestEmitter {
public:
  NestEmitter(EmitContext &kernel, const Nest &nest);
  ~NestEmitter();
  mlir::LogicalResult run();
  /// The address of a tile's first element, computed without the nest's loops; null after an error.
  llvm::Value *firstAddress(mlir::Value pointer);

private:
  mlir::LogicalResult emitLevel(unsigned level);
  mlir::LogicalResult emitVectorLevel(unsigned level);
  mlir::LogicalResult emitMain(unsigned level, llvm::Value *end);
  llvm::Value *canStream(unsigned level);
  mlir::LogicalResult emitPart(unsigned level, NestPart part, llvm::Value *begin, llvm::Value *end);
  mlir::LogicalResult emitAxisLoop(unsigned level);
  mlir::LogicalResult emitLoop(unsigned level, llvm::Value *begin, llvm::Value *end, unsigned step);
  mlir::LogicalResult emitChunk(unsigned level);
  bool beginsRoots(unsigned level) const;
  void setReady(const Root &root);

  EmitContext &kernel;
  llvm::IRBuilder<> &ir;
  const Nest &nest;
  NestLevels levels;
  Chunk chunk;
  NestContext context; ///< refers to these and to what follows
  AddressEmitter addresses;
  ElementEmitter elements;
  MemoryEmitter memory;
  NestBounds bounds;
  std::vector<std::unique_ptr<RootEmitter>> rootEmitters; ///< of the nest's roots, by index
};

} // namespace nereid::cpu
