// How the launcher makes a tensor map from the arguments of a launch.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/LaunchExpression.h"

#include <cstdint>
#include <vector>

namespace nereid::artifact {

inline constexpr size_t kMaxTensorMapRank = 5;
/// The limit of TMA on each extent of a box.
inline constexpr uint32_t kMaxBoxExtent = 256;
inline constexpr uint32_t kTensorMapBytes = 128;
inline constexpr uint32_t kTensorMapAlign = 64;

/// All lists begin with the fastest dimension, as cuTensorMapEncodeTiled takes them.
struct TensorMapRecipe {
  LaunchExpression base;                 ///< address, in bytes
  std::vector<LaunchExpression> extents; ///< in elements
  std::vector<LaunchExpression> strides; ///< in bytes, of every dimension but the fastest
  std::vector<uint32_t> box;             ///< in elements
  uint32_t elementType = 0;              ///< the driver's number (CUtensorMapDataType)
  uint32_t elementBytes = 0;
  uint32_t swizzleBytes = 0; ///< 0, 32, 64 or 128
  bool padsWithNan = false;  ///< elements outside of the extents; otherwise they are zero

  bool operator==(const TensorMapRecipe &) const = default;
};

/// Whether the lists agree in length, every expression is well-formed, and the constants are within TMA's limits.
bool isWellFormed(const TensorMapRecipe &recipe, size_t parameterCount);

} // namespace nereid::artifact
