// The tensor maps that the launcher makes for a kernel, from the arguments of each launch.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "runtime/cuda/CudaDriver.h"

#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace nereid::runtime {

/// Evaluates an artifact's recipes and conditions. The last results are kept by the values of the arguments that they
/// read, so that a launch with known ones costs a hash and a copy. Any number of threads may call it.
class TensorMaps {
public:
  TensorMaps(const artifact::Artifact &artifact, const cuda::DriverCalls &calls);

  size_t count() const { return artifact.tensorMaps.size(); }

  enum class Fit : uint8_t { Yes, No, DriverFailed };
  struct Result {
    Fit fit = Fit::Yes;
    cuda::Result driver = cuda::Success; ///< of a driver that failed for another reason than the arguments
  };
  /// Whether the kernel's code may run with these packed arguments. If so, writes its `count()` tensor maps to `maps`,
  /// unless that is null. With `isOneWave` the launch has at most one program for each multiprocessor.
  Result make(std::span<const char> packed, bool isOneWave, cuda::TensorMap *maps) const;

  /// Which condition or tensor map does not fit the arguments; empty where all do.
  std::string reason(std::span<const char> packed) const;

private:
  struct Entry {
    std::vector<int64_t> values; ///< of the arguments that are read, then `isOneWave`
    std::vector<cuda::TensorMap> maps;
    Fit fit = Fit::No;
    bool isUsed = false;
  };

  size_t valueCount() const { return read.size() + 1; }
  void readValues(std::span<const char> packed, bool isOneWave, int64_t *values) const;
  std::vector<int64_t> argumentsOf(std::span<const int64_t> values) const;
  Result compute(std::span<const int64_t> values, std::vector<cuda::TensorMap> &maps) const;
  Result find(std::span<const int64_t> values, cuda::TensorMap *maps) const;
  std::string conditionProblem(std::span<const int64_t> arguments) const;

  const artifact::Artifact &artifact;
  const cuda::DriverCalls &calls;
  const std::vector<uint32_t> read; ///< indices of the parameters that are read
  mutable std::mutex mutex;
  mutable std::vector<Entry> entries; ///< by hash; empty before the first launch
};

} // namespace nereid::runtime
