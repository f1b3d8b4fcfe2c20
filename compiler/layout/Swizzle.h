// A conversion through shared memory: a buffer whose order makes both sides' accesses wide and free of bank conflicts.
// SPDX-License-Identifier: MIT
//
// How to execute a plan, for each repetition: every active thread stores its `store` accesses of that repetition,
// barrier, every thread loads its `load` accesses, and a barrier stands before the next repetition's stores. An access
// of a thread lies at element offset (XOR of laneBases and warpBases over the set bits of lane and warp) ^
// access.offset; offsets are aligned to the access's width.
#pragma once

#include "compiler/layout/Layout.h"

#include <vector>

namespace nereid::layout {

/// What the layout side knows of a memory. NVIDIA's: 32 banks of 4 bytes, 16 bytes an access at most.
struct BankModel {
  unsigned lineBytes = 128; ///< what all banks give at once
  unsigned bankBytes = 4;
  unsigned maxAccessBytes = 16;
};

/// One load or store instruction of a thread.
struct SharedAccess {
  uint32_t repetition = 0;
  uint32_t offset = 0;                      ///< the registers' part, in elements
  llvm::SmallVector<uint32_t, 4> registers; ///< consecutive elements, as many as the side's vectorElems
};

/// The stores of the source layout or the loads of the destination layout.
struct SharedAccessPattern {
  LinearLayout offsets;     ///< register, lane, warp, block -> repetition, offset
  unsigned vectorElems = 1; ///< elements in one access
  llvm::SmallVector<uint32_t, 6> laneBases;
  llvm::SmallVector<uint32_t, 5> warpBases;
  std::vector<SharedAccess> accesses; ///< by repetition, then by register
  /// Lanes and warps with a bit of these set hold copies and need not store. Of loads: none.
  uint32_t idleLanes = 0;
  uint32_t idleWarps = 0;
  /// Times that one access of a warp occupies all banks, and how many of those are due to bank conflicts.
  unsigned wavefronts = 1;
  unsigned conflicts = 0;

  /// True where `access.offset` may be added as an immediate: it shares no bit with the threads' part.
  bool isImmediate(const SharedAccess &access) const;
};

struct SharedPlan {
  uint32_t elemBytes = 1; ///< elements of less than a byte take one
  uint32_t bytes = 0;
  unsigned repetitions = 1;
  SharedAccessPattern store;
  SharedAccessPattern load;
  /// For each destination register the one that is loaded in its place; itself unless it holds a copy.
  llvm::SmallVector<uint32_t, 16> loadedAs;
};

struct SwizzleOptions {
  /// Buffers larger than this are filled in several repetitions where the layouts allow.
  uint32_t maxBytes = 32 * 1024;
  /// Wide accesses leave fewer directions for repetitions; a buffer larger than this, the least that a block has on any
  /// GPU, does without them.
  uint32_t widestBytes = 64 * 1024;
  /// Loads may be wider than stores, or stores than loads.
  bool mayWidenLoads = true;
  bool mayWidenStores = true;
  BankModel banks;
};

/// Both layouts hold the same places and are surjective; blocks do not exchange elements.
SharedPlan swizzle(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits,
                   const SwizzleOptions &options = {});

/// Sets `wavefronts` and `conflicts` from the lanes' bases alone: a register or warp moves all lanes by one XOR, which
/// permutes banks.
void setWavefronts(SharedAccessPattern &side, unsigned elemBytes, const BankModel &banks = {});

/// Counts by looking at every lane's bytes: the wavefronts of the costliest access of any warp, and of these the ones
/// above the number that its bytes need.
struct Wavefronts {
  unsigned total = 0;
  unsigned conflicts = 0;
};
Wavefronts countWavefronts(const SharedAccessPattern &side, unsigned elemBytes, unsigned numLanes, unsigned numWarps,
                           const BankModel &banks = {});

} // namespace nereid::layout
