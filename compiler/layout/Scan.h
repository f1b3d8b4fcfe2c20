// Plans the scan of a tile along one dimension: in threads, between lanes, between warps.
// SPDX-License-Identifier: MIT
//
// Bits of the axis are processed from the lowest on. After some of them, each register holds the scan of its element
// over those before it in its block of the axis, and every thread that holds a part of a block has the block's total;
// after the last lane bit, only the last lane. A run of bits joins blocks:
//   held by registers: a chain over the blocks' totals
//   held by lanes:     bit by bit, lanes with the bit set read the last total of the other half and put it before their
//                      own, which is then the scan; the last lane's is the total
//   all others, from the first warp bit on: totals go through shared memory, each thread chains those before its own
// The prefix of a block is combined with each of its registers once.
#pragma once

#include "compiler/layout/Reduction.h"

namespace nereid::layout {

/// Adjacent bits of the axis that are all register bits, or all lane bits.
struct ScanRun {
  bool isOfLanes = false;
  llvm::SmallVector<uint32_t, 6> masks; ///< the register's or lane's bit for each, from the lowest
};

/// Combines blocks of different warps. The blocks of a row are numbered along the axis.
struct ScanExchange {
  unsigned numBlocks = 1;
  /// A register bit that distinguishes blocks or rows, with its bits in the block index and in the row index of this
  /// thread.
  struct GroupBit {
    uint32_t mask = 0, block = 0, row = 0;
  };
  llvm::SmallVector<GroupBit, 8> groups;
  llvm::SmallVector<uint32_t, 6> laneBases; ///< of the block index
  llvm::SmallVector<uint32_t, 5> warpBases;
  /// Stores the total of each combination of `groups`; loads all blocks of each row, adjacent for each row.
  std::vector<ExchangeBuffer> operands;
};

struct ScanPlan {
  llvm::SmallVector<ScanRun, 4> runs;
  uint32_t copies = 0;   ///< registers with one of these bits hold copies
  ScanExchange exchange; ///< where there is more than one block
  uint32_t bytes = 0;    ///< of shared memory
  bool crossesWarps() const { return exchange.numBlocks > 1; }
};

/// Whether each bit of the axis is exactly one register, lane or warp bit, which moves along nothing else.
bool isScannable(const LinearLayout &layout, unsigned axis);

/// `layout` is scannable; `operandBits` are the element widths of the scan's operands.
ScanPlan planScan(const LinearLayout &layout, unsigned axis, llvm::ArrayRef<unsigned> operandBits,
                  const BankModel &banks = {});

} // namespace nereid::layout
