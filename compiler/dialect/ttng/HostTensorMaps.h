// Kernel arguments that are tensor maps: the host makes them, and a launch passes them by value.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nereid::ttng {

/// On an argument: the type of the map's block, elements with the sign that the array's have.
inline constexpr llvm::StringLiteral kTensorMap = "ttng.tensor_map";

/// Of a map. (CUDA driver API, CUtensorMap.)
inline constexpr unsigned kTensorMapBytes = 128, kTensorMapAlign = 64;

} // namespace nereid::ttng
