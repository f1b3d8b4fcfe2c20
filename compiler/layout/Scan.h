// How a tile is scanned along one dimension: in threads, between lanes, between warps.
// SPDX-License-Identifier: MIT
//
// Bits of the axis are taken from the lowest on. After some of them each register holds the scan of its element over
// those before it in its block of the axis, and every thread that holds a part of a block knows the block's total. A
// run of bits joins blocks:
//   held by registers: a chain over the blocks' totals
//   held by lanes:     a butterfly of totals, in which lanes with the bit set put the other half before their own
//   all others, from the first bit of a warp on: totals meet in shared memory, each thread chains those before its own
// What stands before a block is combined with each of its registers once.
#pragma once

#include "compiler/layout/Reduction.h"

namespace nereid::layout {

/// Neighbouring bits of the axis that registers hold, or that lanes hold.
struct ScanRun {
  bool isOfLanes = false;
  llvm::SmallVector<uint32_t, 6> masks; ///< the register's or lane's bit for each, from the lowest
};

/// Blocks of different warps. The blocks of a row are numbered along the axis.
struct ScanExchange {
  unsigned numBlocks = 1;
  /// Register bits that tell blocks or rows apart, each with the bits that it adds to the block's number and to the
  /// row's number in this thread.
  struct GroupBit {
    uint32_t mask = 0, block = 0, row = 0;
  };
  llvm::SmallVector<GroupBit, 8> groups;
  llvm::SmallVector<uint32_t, 6> laneBases; ///< of the block's number
  llvm::SmallVector<uint32_t, 5> warpBases;
  /// Stored: the total of each combination of `groups`. Loaded: all blocks of each row, a row's side by side.
  std::vector<ExchangeBuffer> operands;
};

struct ScanPlan {
  llvm::SmallVector<ScanRun, 4> runs;
  uint32_t copies = 0;   ///< registers with a bit of these hold copies
  ScanExchange exchange; ///< where there is more than one block
  uint32_t bytes = 0;    ///< of shared memory
  bool crossesWarps() const { return exchange.numBlocks > 1; }
};

/// Whether each bit of the axis is one bit of registers, lanes or warps, which does nothing else.
bool isScannable(const LinearLayout &layout, unsigned axis);

/// `layout` is scannable; `operandBits` are the element widths of the scan's operands.
ScanPlan planScan(const LinearLayout &layout, unsigned axis, llvm::ArrayRef<unsigned> operandBits,
                  const BankModel &banks = {});

} // namespace nereid::layout
