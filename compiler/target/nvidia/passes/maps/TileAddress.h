// Reads a tile of pointers and its mask as a box of a strided array, as TMA addresses it.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/nvidia/passes/maps/KernelTiles.h"

#include <string>

namespace nereid::nvidia {

/// One dimension of the array.
struct ArrayDim {
  index::Polynomial coordinate;     ///< where the box begins
  LaunchCode stride;                ///< in bytes; empty for the fastest dimension
  std::optional<LaunchCode> extent; ///< in elements; nothing: the kernel bounds no access
  int64_t box = 1;
};

struct TileAddress {
  LaunchCode base;                          ///< address of the array, in bytes
  llvm::SmallVector<ArrayDim, 4> dims;      ///< the fastest first
  llvm::SmallVector<LaunchCode> conditions; ///< none may be negative
  bool isTransposed = false;                ///< the fastest dimension is the tile's first
};

/// The address of a load of two dimensions; nothing, and a reason, where TMA cannot express it.
std::optional<TileAddress> tileAddressOf(tt::LoadOp load, KernelTiles &tiles, std::string &reason);

} // namespace nereid::nvidia
