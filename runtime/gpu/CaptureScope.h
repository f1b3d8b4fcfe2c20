// Allows calls that a stream capture into a graph would forbid, for the length of a scope.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/gpu/DriverAbi.h"

namespace nereid::runtime {

/// Loading and freeing are not part of a graph: a capture records the same with and without them.
class CaptureScope {
public:
  using Exchange = gpu::Call<gpu::Result(gpu::CaptureMode *)>;
  explicit CaptureScope(const Exchange &exchange) : exchange(exchange) { exchange(&mode); }
  ~CaptureScope() { exchange(&mode); }
  CaptureScope(const CaptureScope &) = delete;
  CaptureScope &operator=(const CaptureScope &) = delete;

private:
  const Exchange &exchange;
  gpu::CaptureMode mode = gpu::CaptureMode::Relaxed; ///< swapped with the thread's own mode
};

} // namespace nereid::runtime
