// Prefetches, while a dot multiplies, the tiles that the next iteration of its loop reads.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

namespace nereid::cpu {

/// A few lines at some iterations of each register block's loop over K.
class DotPrefetcher {
public:
  DotPrefetcher(EmitContext &context, const Step &step) : context(context), ir(context.ir), step(step) {}

  /// Computes the addresses of the tiles at the insert point, where the operands are complete.
  void findTiles();
  /// What the emitted code depends on besides the values.
  void describe(llvm::raw_ostream &out) const;
  void addValues(llvm::SmallVectorImpl<llvm::Value **> &values);
  /// Divides the tiles among so many blocks of so many iterations, of which one begins.
  void beginBlock(llvm::Value *block, int64_t blocks, int64_t iterations);
  void endBlock() { share = Share(); }
  /// Prefetches the share of an iteration of the current block, if there is one.
  void prefetch(llvm::Value *iteration);

private:
  /// Rows of adjacent bytes.
  struct Tile {
    llvm::Value *first = nullptr, *stride = nullptr; ///< of rows
    llvm::Value *isNear = nullptr;                   ///< whether the tile is in the second-level cache
    int64_t rows = 1;
    unsigned logLines = 0; ///< logarithm of the number of a row's cache lines, rounded up
    int64_t groups() const { return llvm::divideCeil(rows, groupRows) << logLines; }
  };
  /// The prefetches of one block: groups of lines of one tile.
  struct Share {
    llvm::Value *first = nullptr, *stride = nullptr, *isNear = nullptr; ///< first address, stride and level of the tile
    llvm::Value *logLines = nullptr, *lastGroup = nullptr, *lastRow = nullptr;
    llvm::Value *begin = nullptr;   ///< the block's first group
    int64_t iterationsPerGroup = 0; ///< 0: nothing is prefetched
  };

  Tile tileOf(mlir::Operation *access, llvm::Value *distance);
  void prefetchGroup(llvm::Value *group);

  /// A group is a cache line of each of several adjacent rows, which mostly lie in different pages: a prefetch that
  /// waits for its page's address blocks retirement, so several pages are looked up in parallel.
  static constexpr int64_t groupRows = 4;

  EmitContext &context;
  llvm::IRBuilder<> &ir;
  const Step &step;
  llvm::SmallVector<Tile, 2> tiles;
  std::optional<Tile> storedTile; ///< prefetched instead in the loop's last iteration
  llvm::Value *isLast = nullptr;
  bool mayBeNear = false;
  Share share;
};

} // namespace nereid::cpu
