// The Python class of a compilation's result: the artifact, its stages, its kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "jit/Session.h"
#include "python/bindings/Kernel.h"

#include <map>
#include <mutex>

namespace nereid::python {

class CompiledData {
public:
  explicit CompiledData(jit::Compiled compiled)
      : shared(std::move(compiled.artifact)), artifact(*shared), times(std::move(compiled.times)),
        cacheHit(compiled.isFromCache), packKey(std::move(compiled.packKey)), estimate(std::move(compiled.estimate)),
        lock(std::move(compiled.lock)) {}

  nb::dict metadata() const;
  nb::dict phaseTimes() const;
  nb::list stages() const;
  /// `sources` are texts by file name, which the stage may quote.
  nb::object stage(const std::string &name, const std::map<std::string, std::string> &sources) const;
  /// The kernel on that device of its target's backend; loaded at the first call.
  std::shared_ptr<LoadedKernel> kernel(int32_t ordinal);
  std::string writeView(const std::string &root) const;

  const std::shared_ptr<const artifact::Artifact> shared;
  const artifact::Artifact &artifact;
  const std::vector<driver::PhaseTime> times;
  const bool cacheHit;
  const std::shared_ptr<const jit::PackKey> packKey; ///< null where it was read from a file
  const std::optional<explain::Estimate> estimate;   ///< of the launch that it was compiled for

  /// Lets other processes find what the caller has stored.
  void releaseLock() { lock = nullptr; }
  /// Empty where it cannot be in a pack.
  std::string keyInPacks() const;

private:
  std::shared_ptr<jit::CompileLock> lock; ///< where another cache than the one on disk stores the kernel
  std::mutex loading;
  std::map<int32_t, std::shared_ptr<LoadedKernel>> loaded; ///< by device
};

/// Forwards the cache's messages as Python warnings.
void warnOfCache();

void bindCompiledData(nb::module_ &module);

} // namespace nereid::python
