// Pairs of counters in a GPU's memory by which the CTAs of a persistent kernel share its programs.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cuda/CudaDriver.h"

#include <atomic>
#include <mutex>

namespace nereid::runtime {

/// Each launch gets a pair of zeroed u32; the kernel leaves zeros in it. The memory is never freed: launches and graphs
/// refer to it. Any number of threads may call it, each with the device's context current.
class LaunchCounters {
public:
  explicit LaunchCounters(const cuda::DriverCalls &calls) : calls(calls) {}

  /// Allocates the pairs of ordinary launches; later calls do nothing.
  cuda::Result prepare();
  /// The pair of the next ordinary launch, after `prepare`. A pair is used again after `kPairs` launches.
  cuda::Address next();
  /// A pair for a launch that becomes part of a graph, which may run at any time; 0, with the result, on failure.
  cuda::Address nextInGraph(cuda::Result &result);

  static constexpr uint32_t kPairs = 4096;
  static constexpr uint32_t kGraphPairs = 512; ///< allocated at once
  static constexpr uint32_t kPairBytes = 8;

private:
  cuda::Address allocate(uint32_t pairs, cuda::Result &result) const;

  const cuda::DriverCalls &calls;
  std::mutex mutex;
  std::atomic<cuda::Address> pairs{0};
  std::atomic<uint32_t> launches{0};
  cuda::Address graphPair = 0;
  uint32_t graphPairsLeft = 0;
};

} // namespace nereid::runtime
