// Plans a conversion through shared memory: a buffer whose order makes both sides' accesses wide and free of bank
// conflicts.
// SPDX-License-Identifier: MIT
//
// How to execute a plan, for each repetition: every active thread stores its `store` accesses of that repetition,
// barrier, every thread loads its `load` accesses, and there is a barrier before the next repetition's stores. A
// thread's access has the element offset (XOR of laneBases and warpBases over the set bits of lane and warp) ^
// access.offset; offsets are aligned to the access's width.
#pragma once

#include "compiler/layout/Layout.h"
#include "compiler/layout/Padding.h"

#include <vector>

namespace nereid::layout {

/// The memory model. NVIDIA's: 32 banks of 4 bytes, at most 16 bytes per access.
struct BankModel {
  unsigned lineBytes = 128; ///< one word of every bank
  unsigned bankBytes = 4;
  unsigned maxAccessBytes = 16;
};

/// How the lanes of a warp execute an access together. (PTX ISA, ldmatrix.)
enum class MatrixForm : uint8_t {
  None,      ///< each lane accesses consecutive elements
  Rows,      ///< lane l has word l % 4 of row l / 4 of each matrix of 8 rows
  Transposed ///< lane l has elements l / 4 of rows 2 (l % 4) and 2 (l % 4) + 1
};

/// One load or store instruction of a thread.
struct SharedAccess {
  uint32_t repetition = 0;
  uint32_t offset = 0; ///< the registers' part, in elements
  /// Consecutive elements, as many as the pattern's vectorElems. Of matrices: those of the lane's word of matrix 0,
  /// then those of matrix 1, and so on.
  llvm::SmallVector<uint32_t, 4> registers;
};

/// The stores of the source layout or the loads of the destination layout.
struct SharedAccessPattern {
  LinearLayout offsets;     ///< register, lane, warp, block -> repetition, offset
  unsigned vectorElems = 1; ///< elements at an address
  /// The form of ldmatrix or stmatrix: lane 8m + r gives the address of row r, 16 bytes long, of matrix m.
  MatrixForm matrix = MatrixForm::None;
  llvm::SmallVector<uint32_t, 6> laneBases;
  llvm::SmallVector<uint32_t, 5> warpBases;
  std::vector<SharedAccess> accesses; ///< by repetition, then by register
  /// Lanes and warps with one of these bits hold copies and need not store. For loads: none.
  uint32_t idleLanes = 0;
  uint32_t idleWarps = 0;
  /// Gaps in the buffer, in elements; offsets do not count them.
  Padding padding;
  /// Bits that the offset of the buffer's first element in an allocation may have; it is XORed to offsets.
  uint32_t partMask = 0;
  /// Wavefronts of one access of a warp, and how many of them are due to bank conflicts.
  unsigned wavefronts = 1;
  unsigned conflicts = 0;

  /// The bits that threads' parts of offsets may have; the others of an access's own part can be added instead of
  /// XORed.
  uint32_t threadMask() const;
  /// Whether the whole of `access.offset` can be added.
  bool isImmediate(const SharedAccess &access) const { return (access.offset & threadMask()) == 0; }
  /// Whether the lanes of a warp access vectors that follow each other in the buffer, in the lanes' order.
  bool isInLaneOrder() const;
};

struct SharedPlan {
  uint32_t elemBytes = 1; ///< elements below a byte take one
  uint32_t bytes = 0;
  unsigned repetitions = 1;
  SharedAccessPattern store;
  SharedAccessPattern load;
  /// For each destination register, the register that is loaded in its stead; itself unless it holds a copy.
  llvm::SmallVector<uint32_t, 16> loadedAs;

  /// Whether every warp loads what it has stored itself, in a part of the buffer that is its own in all repetitions.
  /// Then barriers of the warp suffice.
  bool isWithinWarps = false;

  /// Barriers of the CTA in its execution: a repetition writes after the reads of the previous one, and reads after its
  /// own writes.
  unsigned barriers() const { return isWithinWarps ? 0 : 2 * repetitions - 1; }
};

struct SwizzleOptions {
  /// Buffers larger than this are filled in several repetitions where the layouts allow.
  uint32_t maxBytes = 32 * 1024;
  /// Wide accesses leave fewer directions for repetitions. A buffer larger than this, the least shared memory of a CTA
  /// on any GPU, does without them.
  uint32_t widestBytes = 64 * 1024;
  /// Loads may be wider than stores, or the reverse.
  bool mayWidenLoads = true;
  bool mayWidenStores = true;
  /// Whether the GPU has ldmatrix and stmatrix.
  bool hasLdmatrix = false;
  bool hasStmatrix = false;
  /// Directions of the flattened tile with which vectors begin, from the least significant bit; registers of both
  /// sides.
  BitColumns vectorStart;
  BankModel banks;
};

/// Bytes that an element of a tile takes in shared memory: a power of two.
unsigned elementBytes(unsigned elemBits);

/// Both layouts hold the same coordinates and are surjective; CTAs do not exchange elements.
SharedPlan swizzle(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits,
                   const SwizzleOptions &options = {});

/// Plans how threads with copies of a tile get the values of the elements' owners: owners store, all load.
SharedPlan planCopies(const LinearLayout &layout, unsigned elemBits);

/// Sets `wavefronts` and `conflicts` from the lanes' bases alone: a register or warp XORs the addresses of all lanes
/// alike, which permutes banks.
void setWavefronts(SharedAccessPattern &side, unsigned elemBytes, const BankModel &banks = {});

/// Counts over every lane's bytes: the wavefronts of the costliest access of any warp, and how many of them exceed the
/// number that its bytes need.
struct Wavefronts {
  unsigned total = 0;
  unsigned conflicts = 0;
};
Wavefronts countWavefronts(const SharedAccessPattern &side, unsigned elemBytes, unsigned numLanes, unsigned numWarps,
                           const BankModel &banks = {});

} // namespace nereid::layout
