// Checks the parts of a tensor map's recipe that do not depend on a launch.
// SPDX-License-Identifier: MIT
#include "artifact/TensorMapRecipe.h"

#include <algorithm>
#include <bit>

namespace nereid::artifact {

// CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ; later numbers are packed types of less than a byte.
static constexpr uint32_t kLastElementType = 12;
static constexpr uint32_t kMaxElementBytes = 8;
static constexpr uint32_t kMaxSwizzleBytes = 128;
static constexpr uint32_t kMinSwizzleBytes = 32;

static bool areWellFormed(const std::vector<LaunchExpression> &expressions, size_t parameterCount) {
  return std::ranges::all_of(expressions,
                             [&](const LaunchExpression &each) { return isWellFormed(each.code, parameterCount); });
}

bool isWellFormed(const TensorMapRecipe &recipe, size_t parameterCount) {
  const size_t rank = recipe.extents.size();
  const uint32_t swizzle = recipe.swizzleBytes;
  const bool isShaped =
      rank >= 1 && rank <= kMaxTensorMapRank && recipe.strides.size() == rank - 1 && recipe.box.size() == rank;
  const bool isSwizzle =
      swizzle == 0 || (std::has_single_bit(swizzle) && swizzle >= kMinSwizzleBytes && swizzle <= kMaxSwizzleBytes);
  const bool isElement = recipe.elementType <= kLastElementType && std::has_single_bit(recipe.elementBytes) &&
                         recipe.elementBytes <= kMaxElementBytes;
  const bool isBox = std::ranges::all_of(recipe.box, [](uint32_t extent) { return extent - 1 < kMaxBoxExtent; });
  return isShaped && isSwizzle && isElement && isBox && isWellFormed(recipe.base.code, parameterCount) &&
         areWellFormed(recipe.extents, parameterCount) && areWellFormed(recipe.strides, parameterCount);
}

} // namespace nereid::artifact
