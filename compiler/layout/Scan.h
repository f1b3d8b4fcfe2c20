// Plans the scan of a tile along one dimension: in threads, between lanes, between warps.
// SPDX-License-Identifier: MIT
//
// Bits of the axis are processed from the lowest on. After some of them, each register holds the scan of its element
// over those before it in its block of the axis, and every thread that holds a part of a block has the block's total;
// after the last lane bit before warps, only the last lane. A run of bits joins blocks:
//   held by registers: a chain over the blocks' totals
//   held by lanes:     bit by bit, lanes with the bit set read the last total of the other half and put it before their
//                      own, which is then the scan; the last lane's is the total
//   held by warps:     totals go through shared memory, each thread chains those before its own
// The prefix of a block is combined with each of its registers once.
#pragma once

#include "compiler/layout/Reduction.h"

namespace nereid::layout {

/// Combines blocks of different warps. A row is a sequence of blocks, numbered along the axis; threads hold a block of
/// each of their rows. Rows that do not fit into the buffer at once take turns.
struct ScanExchange {
  unsigned numBlocks = 1;
  llvm::SmallVector<uint32_t, 8> rowMasks;   ///< register bits that distinguish the rows of one round
  llvm::SmallVector<uint32_t, 8> roundMasks; ///< register bits that distinguish rounds
  llvm::SmallVector<uint32_t, 5> warpBases;  ///< of the block index
  /// Stores the total of each row of a round; loads all blocks of each, adjacent for each row.
  std::vector<ExchangeBuffer> operands;

  unsigned rounds() const { return 1u << roundMasks.size(); }
};

/// Adjacent bits of the axis that are all register bits, all lane bits, or all warp bits.
struct ScanRun {
  enum class Kind : uint8_t { Registers, Lanes, Warps } kind = Kind::Registers;
  llvm::SmallVector<uint32_t, 6> masks; ///< the holder's bit for each, from the lowest
  ScanExchange exchange;                ///< of warps
};

struct ScanPlan {
  llvm::SmallVector<ScanRun, 4> runs;
  uint32_t copies = 0; ///< registers with one of these bits hold copies
  uint32_t bytes = 0;  ///< of shared memory, which every exchange uses from the beginning

  /// Barriers of the CTA in its execution: a round writes after the reads of the one before, and reads after its own
  /// writes.
  unsigned barriers() const;
};

/// Whether each bit of the axis is exactly one register, lane or warp bit, which moves along nothing else.
bool isScannable(const LinearLayout &layout, unsigned axis);

/// `layout` is scannable; `operandBits` are the element widths of the scan's operands. Exchanges take several rounds
/// where they would need more than `maxBytes`.
ScanPlan planScan(const LinearLayout &layout, unsigned axis, llvm::ArrayRef<unsigned> operandBits,
                  uint32_t maxBytes = 32 * 1024, const BankModel &banks = {});

} // namespace nereid::layout
