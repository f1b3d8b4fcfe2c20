// How tiles are held while LLVM IR is emitted, and what is known of their values beyond LLVM's types.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Types.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Value.h"

#include <cstdint>

namespace nereid::lowering {

/// The values of a thread, one a register in the order of the tile's layout. A scalar has one.
using Tile = llvm::SmallVector<llvm::Value *, 8>;

/// How many registers a thread has for a tile; 1 for a scalar.
unsigned numRegisters(mlir::Type type);

/// Registers with a bit of these set hold copies of those without.
uint32_t copyMask(mlir::Type type);

/// A value as another one and a constant; registers of a tile that differ by constants alone have one base. Null is 0.
struct BaseOffset {
  llvm::Value *base = nullptr;
  int64_t offset = 0; ///< pointers: in bytes
  /// The sum does not overflow, so that it may be taken in a wider type.
  bool isExact = true;
};

/// The splits of integers and pointers that have one; every other value is its own base.
class BaseOffsetTable {
public:
  BaseOffset of(llvm::Value *value) const;
  void set(llvm::Value *value, const BaseOffset &baseOffset) { baseOffsets[value] = baseOffset; }

private:
  llvm::DenseMap<llvm::Value *, BaseOffset> baseOffsets;
};

} // namespace nereid::lowering
