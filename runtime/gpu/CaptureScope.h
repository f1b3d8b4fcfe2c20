// Allows calls that a stream capture into a graph would forbid, for the length of a scope.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cuda/CudaDriver.h"

namespace nereid::runtime {

/// Loading and freeing are not part of a graph: a capture records the same with and without them.
class CaptureScope {
public:
  explicit CaptureScope(const cuda::DriverCalls &calls) : calls(calls) {
    calls.cuThreadExchangeStreamCaptureMode(&mode);
  }
  ~CaptureScope() { calls.cuThreadExchangeStreamCaptureMode(&mode); }
  CaptureScope(const CaptureScope &) = delete;
  CaptureScope &operator=(const CaptureScope &) = delete;

private:
  const cuda::DriverCalls &calls;
  cuda::CaptureMode mode = cuda::CaptureMode::Relaxed; ///< swapped with the thread's own mode
};

} // namespace nereid::runtime
