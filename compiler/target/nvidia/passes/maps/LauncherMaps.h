// Adds tensor maps that the launcher makes to a kernel's arguments.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/nvidia/passes/maps/LaunchCode.h"

namespace nereid::nvidia {

/// How the launcher makes a tensor map; lists begin with the fastest dimension.
struct MapRecipe {
  mlir::RankedTensorType block; ///< slowest dimension first; integers with the array's signedness
  LaunchCode base;
  llvm::SmallVector<LaunchCode, 4> extents; ///< in elements
  llvm::SmallVector<LaunchCode, 4> strides; ///< in bytes, without the fastest dimension
};

/// Arguments of a kernel take 4 KiB at most before PTX 8.1, and a map 128 bytes of them.
inline constexpr unsigned kMostMaps = 16;
/// The maps among a kernel's arguments.
unsigned countMapArguments(tt::FuncOp kernel);

/// The kernel's argument for such a map, a new one where it has none yet.
mlir::Value addMapArgument(tt::FuncOp kernel, const MapRecipe &recipe, mlir::Location loc);

/// The launcher may use the kernel only where none of these is negative.
void addLaunchConditions(tt::FuncOp kernel, llvm::ArrayRef<LaunchCode> conditions);

} // namespace nereid::nvidia
