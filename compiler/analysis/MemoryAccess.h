// Describes reads and writes of global memory through tiles of pointers, and their vector widths.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/ElementType.h"
#include "compiler/index/AxisInfo.h"
#include "compiler/layout/Layout.h"

namespace nereid::analysis {

using index::AxisInfo;
using index::AxisInfoAnalysis;

/// The widest vector of an access.
inline constexpr unsigned kWidestAccessBytes = 16;

/// Module attribute: atomic additions of f32, f16 and bf16 take vectors as wide as loads do.
inline constexpr llvm::StringLiteral kVectorAtomics = "ttg.vector-atomics";

/// The operands of an op with `tt::MemoryAccessOpInterface`.
struct MemoryAccess {
  mlir::Operation *op = nullptr;
  mlir::Value pointer;
  mlir::Value mask;  ///< may be null
  mlir::Value value; ///< the stored value; null for a load
  unsigned elementBits = 0;
  unsigned widestBytes = kWidestAccessBytes; ///< of one vector

  /// Bytes of so many elements.
  uint64_t bytes(uint64_t elements) const { return artifact::bytesOfBits(elementBits * elements); }
  bool isStore() const { return value != nullptr; }
  /// The tile of pointers; null for an access through one pointer.
  mlir::RankedTensorType tile() const { return llvm::dyn_cast<mlir::RankedTensorType>(pointer.getType()); }
};

/// The access of `op` if it is a load or store.
std::optional<MemoryAccess> memoryAccessOf(mlir::Operation *op);
/// The access of `op` if it is atomic. Additions of 16-bit floats may be vectors of two, those of floats up to 32 bits
/// wider vectors where the module has the attribute; all others are scalar.
std::optional<MemoryAccess> atomicAccessOf(mlir::Operation *op);
/// The access of either kind.
std::optional<MemoryAccess> anyAccessOf(mlir::Operation *op);

using tt::memoryBits;

/// Whether a vector of so many bytes can be copied to shared memory asynchronously.
inline bool isCpAsyncSize(unsigned bytes) { return bytes == 4 || bytes == 8 || bytes == 16; }

/// How many adjacent elements along `dim` may be one access: the addresses are contiguous and aligned, and the mask is
/// constant.
unsigned maxVectorElems(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo, unsigned dim);

/// How many of a thread's registers form one vector of an access whose tile has an encoding: aligned groups of this
/// many registers hold adjacent elements. 1 for a scalar access.
unsigned vectorElems(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo);
/// How many registers would form one vector if the access's tile had `layout`.
unsigned vectorElems(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo, const layout::LinearLayout &layout);

/// Register bits along which the elements of a tile with `layout` are equal.
uint32_t repeatedRegisters(const AxisInfo &elements, const layout::LinearLayout &layout);
/// Register bits along which an access, whose tile has `layout`, loads the same element again.
uint32_t repeatedLoads(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo,
                       const layout::LinearLayout &layout);

} // namespace nereid::analysis
