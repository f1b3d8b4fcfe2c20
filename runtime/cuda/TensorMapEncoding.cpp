// Evaluates and encodes one tensor map.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/TensorMapEncoding.h"

#include <algorithm>
#include <bit>

namespace nereid::runtime {

using namespace cuda;

// The driver's limits on a tiled tensor map without interleaving.
static constexpr int64_t kAlign = 16;
static constexpr int64_t kMaxExtent = int64_t{1} << 32;
static constexpr int64_t kStrideLimit = int64_t{1} << 40;
static constexpr uint64_t kShortRowBytes = 2048;

static std::string dimension(const char *what, size_t index) { return what + (" " + std::to_string(index)); }

static std::string hasNoValue(const std::string &what) { return what + " has no value"; }

static bool readExtents(const artifact::TensorMapRecipe &recipe, std::span<const int64_t> arguments,
                        TensorMapShape &shape, std::string &reason) {
  for (size_t i = 0; i < recipe.extents.size(); ++i) {
    const auto value = artifact::evaluate(recipe.extents[i].code, arguments);
    if (!value || *value < 1 || *value > kMaxExtent) {
      const std::string what = dimension("extent", i);
      reason = value ? what + " is " + std::to_string(*value) + "; it must be from 1 to 2^32" : hasNoValue(what);
      return false;
    }
    shape.extents[i] = static_cast<uint64_t>(*value);
  }
  return true;
}

static bool readStrides(const artifact::TensorMapRecipe &recipe, std::span<const int64_t> arguments,
                        TensorMapShape &shape, std::string &reason) {
  for (size_t i = 0; i < recipe.strides.size(); ++i) {
    const auto value = artifact::evaluate(recipe.strides[i].code, arguments);
    if (!value || *value <= 0 || *value >= kStrideLimit || *value % kAlign != 0) {
      const std::string what = dimension("stride", i + 1);
      reason = value ? what + " is " + std::to_string(*value) +
                           " bytes; it must be positive, below 2^40 and a multiple of 16"
                     : hasNoValue(what);
      return false;
    }
    shape.strides[i] = static_cast<uint64_t>(*value);
  }
  return true;
}

std::optional<TensorMapShape> shapeOf(const artifact::TensorMapRecipe &recipe, std::span<const int64_t> arguments,
                                      std::string &reason) {
  TensorMapShape shape;
  if (!artifact::isWellFormed(recipe, arguments.size())) {
    reason = "its recipe is malformed";
    return std::nullopt;
  }
  const auto base = artifact::evaluate(recipe.base.code, arguments);
  if (!base || *base == 0 || *base % kAlign != 0) {
    reason = base ? "address " + std::to_string(static_cast<uint64_t>(*base)) + " is null or no multiple of 16"
                  : hasNoValue("address");
    return std::nullopt;
  }
  shape.base = static_cast<uint64_t>(*base);
  if (!readExtents(recipe, arguments, shape, reason) || !readStrides(recipe, arguments, shape, reason))
    return std::nullopt;
  return shape;
}

static TensorMapSwizzle swizzleOf(uint32_t bytes) {
  // None, 32, 64, 128 bytes are 0 to 3.
  return static_cast<TensorMapSwizzle>(bytes ? std::countr_zero(bytes) - 4 : 0);
}

/// How many bytes L2 reads from memory where a box misses it. One wave of programs with short rows waits for memory
/// more than it uses its bandwidth: each miss then also reads the columns of the next box.
static TensorMapL2Promotion promotionOf(const artifact::TensorMapRecipe &recipe, const TensorMapShape &shape,
                                        bool isOneWave) {
  const bool hasShortRows = shape.extents[0] <= kShortRowBytes / recipe.elementBytes;
  return isOneWave && hasShortRows ? TensorMapL2Promotion::Bytes256 : TensorMapL2Promotion::Bytes128;
}

Result encode(const DriverCalls &calls, const artifact::TensorMapRecipe &recipe, const TensorMapShape &shape,
              bool isOneWave, TensorMap &map) {
  static constexpr std::array<uint32_t, artifact::kMaxTensorMapRank> kEveryElement{1, 1, 1, 1, 1};
  return calls.cuTensorMapEncodeTiled(&map, recipe.elementType, static_cast<uint32_t>(recipe.extents.size()),
                                      shape.base, shape.extents.data(), shape.strides.data(), recipe.box.data(),
                                      kEveryElement.data(), TensorMapInterleave::None, swizzleOf(recipe.swizzleBytes),
                                      promotionOf(recipe, shape, isOneWave),
                                      recipe.padsWithNan ? TensorMapFill::Nan : TensorMapFill::Zero);
}

} // namespace nereid::runtime
