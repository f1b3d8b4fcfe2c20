// Kernel arguments that are tensor maps: the host encodes them, and a launch passes them by value.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nereid::ttng {

/// An attribute of an argument: the type of the map's block; integer elements are signed as the array's are.
inline constexpr llvm::StringLiteral kTensorMap = "ttng.tensor_map";

/// Size and alignment of a tensor map. (CUDA driver API, CUtensorMap.)
inline constexpr unsigned kTensorMapBytes = 128, kTensorMapAlign = 64;

} // namespace nereid::ttng
