// Kernel arguments that are tensor maps: the host encodes them, and a launch passes them by value.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nereid::ttng {

/// An attribute of an argument: the type of the map's block; integer elements are signed as the array's are.
inline constexpr llvm::StringLiteral kTensorMap = "ttng.tensor_map";
/// An attribute of such an argument: how the launcher makes the map from the other arguments. An array of launch
/// expressions (artifact/LaunchExpression.h), each an array<i64>: the base's address, the extents in elements from the
/// fastest dimension on, the strides in bytes of all dimensions but the fastest.
inline constexpr llvm::StringLiteral kRecipe = "ttng.recipe";
/// An attribute of a kernel: launch expressions that must not be negative, or the launcher uses other code.
inline constexpr llvm::StringLiteral kConditions = "ttng.launch_conditions";
/// An attribute of a kernel whose CTAs run several programs: its last arguments are the grid's extents (i32) and a
/// pointer to counters.
inline constexpr llvm::StringLiteral kPersistent = "ttng.persistent";

/// Size and alignment of a tensor map. (CUDA driver API, CUtensorMap.)
inline constexpr unsigned kTensorMapBytes = 128, kTensorMapAlign = 64;

} // namespace nereid::ttng
