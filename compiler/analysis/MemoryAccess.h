// Reads and writes of global memory through tiles of pointers, and how wide their pieces may be.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/AxisInfo.h"
#include "compiler/layout/Layout.h"

namespace nereid::analysis {

/// No piece of an access is wider.
inline constexpr unsigned kWidestAccessBytes = 16;

/// On a module: atomic sums of f32, f16 and bf16 take vectors as wide as loads do.
inline constexpr llvm::StringLiteral kVectorAtomics = "ttg.vector-atomics";

/// What a load, store or atomic access does; one place knows which ops these are.
struct MemoryAccess {
  mlir::Operation *op = nullptr;
  mlir::Value pointer;
  mlir::Value mask;  ///< may be null
  mlir::Value value; ///< what is stored; null for a load
  unsigned elementBits = 0;
  unsigned widestBytes = kWidestAccessBytes; ///< of one piece

  bool isStore() const { return value != nullptr; }
  /// The tile of pointers; null for an access through one pointer.
  mlir::RankedTensorType tile() const { return llvm::dyn_cast<mlir::RankedTensorType>(pointer.getType()); }
};

/// The load or store that `op` is, if any.
std::optional<MemoryAccess> memoryAccessOf(mlir::Operation *op);
/// The atomic access that `op` is, if any. Sums of 16-bit floats may be made in pairs, those of floats up to 32 bits as
/// vectors where the module says so, everything else singly.
std::optional<MemoryAccess> atomicAccessOf(mlir::Operation *op);
/// The access of either kind.
std::optional<MemoryAccess> anyAccessOf(mlir::Operation *op);

/// Bits that an element takes in memory: i1 takes a byte, a pointer 64 bits.
unsigned memoryBits(mlir::Type element);

/// Whether a piece of so many bytes can be copied to shared memory asynchronously.
inline bool isCpAsyncSize(unsigned bytes) { return bytes == 4 || bytes == 8 || bytes == 16; }

/// How many neighbours along `dim` may be accessed as one: the addresses run on and are aligned, one mask holds for
/// all.
unsigned maxVectorElems(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo, unsigned dim);

/// How many of a thread's registers form one piece of an access whose tile has an encoding: registers in groups of this
/// size, from the first on, hold neighbours. 1 for a scalar access.
unsigned vectorElems(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo);
/// The same, were `layout` that of the access's tile.
unsigned vectorElems(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo, const layout::LinearLayout &layout);

} // namespace nereid::analysis
