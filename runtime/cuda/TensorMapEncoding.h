// One tensor map: its values for a launch, their limits, and the driver's encoding.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/TensorMapRecipe.h"
#include "runtime/cuda/CudaDriver.h"

#include <array>
#include <optional>
#include <span>
#include <string>

namespace nereid::runtime {

/// The values of a recipe's expressions.
struct TensorMapShape {
  uint64_t base = 0;
  std::array<uint64_t, artifact::kMaxTensorMapRank> extents{};
  std::array<uint64_t, artifact::kMaxTensorMapRank> strides{}; ///< of the dimension after the fastest first
};

/// The shape for these arguments; nothing, with the reason, where TMA cannot access such memory.
std::optional<TensorMapShape> shapeOf(const artifact::TensorMapRecipe &recipe, std::span<const int64_t> arguments,
                                      std::string &reason);

/// With `isOneWave` the launch has at most one program for each multiprocessor.
cuda::Result encode(const cuda::DriverCalls &calls, const artifact::TensorMapRecipe &recipe,
                    const TensorMapShape &shape, bool isOneWave, cuda::TensorMap &map);

} // namespace nereid::runtime
