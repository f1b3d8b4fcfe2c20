// Represents emitted tiles, and what is known of their values beyond LLVM's types.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Types.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Value.h"

#include <cstdint>

namespace nereid::lowering {

/// The values of a thread, one per register in the order of the tile's layout. A scalar has one.
using Tile = llvm::SmallVector<llvm::Value *, 8>;

/// How many registers a thread has for a tile; 1 for a scalar. A part of a buffer in shared memory has 2 values.
unsigned numRegisters(mlir::Type type);

/// Registers with a bit of these set hold copies of those without.
uint32_t copyMask(mlir::Type type);

/// A value as base plus constant offset; registers of a tile that differ by constants share a base. A null base is 0.
struct BaseOffset {
  llvm::Value *base = nullptr;
  int64_t offset = 0; ///< for pointers, in bytes
  /// Whether the sum does not overflow, so that it may be taken in a wider type.
  bool isExact = true;
};

/// Base and offset of integers and pointers that have them; every other value is its own base.
class BaseOffsetTable {
public:
  BaseOffset of(llvm::Value *value) const;
  void set(llvm::Value *value, const BaseOffset &baseOffset) { baseOffsets[value] = baseOffset; }

private:
  llvm::DenseMap<llvm::Value *, BaseOffset> baseOffsets;
};

} // namespace nereid::lowering
