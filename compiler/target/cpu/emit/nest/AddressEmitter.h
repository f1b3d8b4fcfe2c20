// Computes the addresses of a chunk's lanes.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/nest/NestContext.h"

namespace nereid::cpu {

class AddressEmitter {
public:
  explicit AddressEmitter(NestContext &context)
      : context(context), ir(context.ir), nest(context.nest), levels(context.levels), known(levels.count()) {}

  /// Forgets the addresses of the level's last iteration.
  void beginLevel(unsigned level) { known[level].clear(); }
  /// The chunk's index in a tile of the nest's shape: no loop runs over dimensions of extent 1.
  IndexMap chunkMap() const;
  /// The elements that a tile of pointers addresses; of a load (else null) that may have been copied, its copy's.
  ChunkAccess of(mlir::Value pointer, const IndexMap &map, mlir::Operation *load);
  /// The elements of a tile that the buffer, or a part of it at `base`, holds.
  ChunkAccess ofBuffer(llvm::Value *base, BufferId buffer, mlir::Type tile, const IndexMap &map);
  llvm::Value *ofLane(ChunkAccess access, llvm::Value *lane);

private:
  ChunkAccess addressedBy(mlir::Value pointer, const IndexMap &map, const Redirect *redirect);
  ChunkAccess ofLanes(mlir::Value pointer, const IndexMap &map, unsigned level);
  ChunkAccess orCopied(ChunkAccess access, const Redirect &redirect, tt::LoadOp load, const IndexMap &map);
  llvm::Value *addressAt(llvm::Value *base, llvm::ArrayRef<llvm::Value *> strides, const IndexMap &map);
  int64_t unwrappedBytes(mlir::Value pointer, const IndexMap &map);

  NestContext &context;
  llvm::IRBuilder<> &ir;
  const Nest &nest;
  NestLevels &levels;
  /// By level: the sum of an address and a stride times the level's index; of a pointer and null its first element's.
  std::vector<llvm::DenseMap<std::pair<const void *, const void *>, llvm::Value *>> known;
};

} // namespace nereid::cpu
