// Plans a conversion inside warps: selects in each thread, warp shuffles, selects again.
// SPDX-License-Identifier: MIT
//
// How to execute a plan, w being the words of a thread:
//   w[u]        = the source registers words[u], packed from the least significant bits
//   for stages in before:   w[i] = stage holds for this thread ? w[i ^ xorIndex] : w[i], all i at once
//   received[k] = rounds[k].moves ? shfl.idx(w[rounds[k].word], sourceLane ^ rounds[k].laneXor) : w[rounds[k].word]
//   for stages in after:    the same on received
//   result r    = subword results[r].subword of received[results[r].round]
// where sourceLane is the XOR of laneBases and warpBases over the set bits of the thread's lane and warp.
#pragma once

#include "compiler/layout/Layout.h"

#include <vector>

namespace nereid::layout {

/// Swaps values i and i ^ xorIndex in threads with an odd number of set bits in lane & laneMask and warp & warpMask
/// together.
struct SelectStage {
  uint32_t laneMask = 0;
  uint32_t warpMask = 0;
  uint32_t xorIndex = 0;
};

struct ShuffleRound {
  uint32_t word = 0;    ///< the word that each lane sends
  uint32_t laneXor = 0; ///< XORed with the lane that it reads from
  bool moves = true;    ///< false: every lane would read its own word
};

struct ShuffleResult {
  uint32_t round = 0;
  uint32_t subword = 0;
};

struct ShufflePlan {
  /// Source registers of each word; more than one where elements are narrower than 32 bits and move together. Elements
  /// of 64 bits and more are one word here and several shuffles.
  std::vector<llvm::SmallVector<uint32_t, 4>> words;
  llvm::SmallVector<SelectStage, 4> before;
  llvm::SmallVector<uint32_t, 6> laneBases;
  llvm::SmallVector<uint32_t, 5> warpBases;
  llvm::SmallVector<ShuffleRound, 16> rounds; ///< a power of two
  llvm::SmallVector<SelectStage, 4> after;
  llvm::SmallVector<ShuffleResult, 16> results; ///< one per destination register

  /// True if each lane reads from lane ^ laneXor, so that shfl.bfly can be used.
  bool isButterfly() const;
};

/// Words are packed if elemBits divides 32. Nothing where an element would change its warp.
std::optional<ShufflePlan> planShuffle(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits);

} // namespace nereid::layout
