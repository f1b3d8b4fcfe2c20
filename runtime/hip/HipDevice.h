// One AMD GPU: its properties, and the kernels that are loaded and launched there.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/gpu/GpuDevice.h"
#include "runtime/hip/HipDriver.h"

namespace nereid::runtime {

class HipDevice final : public GpuDevice {
public:
  /// Code: `hip-call`.
  static Expected<std::unique_ptr<HipDevice>> open(HipDriver &driver, int ordinal);

  std::string arch() const override { return archName; }
  const HipDriver &driver() const { return owner; }
  bool launchesCooperatively() const { return isCooperative; }

  Expected<PointerInfo> pointerInfo(uint64_t address) override;
  bool canAccess(uint64_t address) override;

  Expected<void *> wantedCurrent() override;
  gpu::CallResult getCurrent(void *&current) const override;
  gpu::CallResult setCurrent(void *current) const override;

protected:
  Expected<void> checkArtifact(const artifact::Artifact &artifact) const override;
  Expected<hip::Module> loadModule(const artifact::Artifact &artifact) const override;
  Expected<std::shared_ptr<Kernel>> makeKernel(artifact::Artifact artifact, hip::Module module,
                                               hip::Function function) override;
  Expected<void> launchOn(const DriverKernel &kernel, Grid grid, hip::Stream stream,
                          std::span<const char> packed) override;

private:
  HipDevice(HipDriver &driver, int ordinal) : GpuDevice(driver, ordinal, ordinal), owner(driver) {}

  bool fits(const DriverKernel &kernel, Grid grid) const;
  Error gridError(const DriverKernel &kernel, Grid grid) const;
  Expected<void> enqueue(const DriverKernel &kernel, Grid grid, hip::Stream stream, std::span<const char> packed);

  HipDriver &owner;
  std::string archName;
  uint64_t maxGrid[3] = {1, 1, 1};
  bool isCooperative = false;
};

} // namespace nereid::runtime
