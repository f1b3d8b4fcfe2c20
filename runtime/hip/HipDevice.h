// One AMD GPU: its properties, and the kernels that are loaded and launched there.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/gpu/CurrentScope.h"
#include "runtime/gpu/GpuDevice.h"
#include "runtime/hip/HipDriver.h"

#include <atomic>

namespace nereid::runtime {

class HipKernel;

class HipDevice final : public GpuDevice {
public:
  /// Code: `hip-call`.
  static Expected<std::unique_ptr<HipDevice>> open(HipDriver &driver, int ordinal);

  std::string name() const override { return "hip:" + std::to_string(ordinal()); }
  /// "gfx942"
  const std::string &arch() const { return archName; }
  const HipDriver &driver() const { return owner; }
  const DeviceProperties &properties() const override { return known; }
  bool launchesCooperatively() const { return isCooperative; }

  Expected<std::shared_ptr<Kernel>> load(artifact::Artifact artifact) override;
  /// Enqueues the launch on the stream (null is the default stream) and returns. Where a kernel needs scratch and the
  /// pointer in the arguments is null, the memory is allocated on the stream for this launch.
  Expected<void> launch(Kernel &kernel, Grid grid, void *stream, std::span<const char> packed) override;

  Expected<void> makeCurrent() override;
  Expected<void> synchronize() override;
  Expected<void> orderStreams(void *earlier, void *later) override;
  Expected<PointerInfo> pointerInfo(uint64_t address) override;
  bool canAccess(uint64_t address) override;
  int siblingCount() const override;
  GpuDevice *sibling(int number) const override;

  Expected<void *> createEvent() override;
  Expected<void> recordEvent(void *event, void *stream) override;
  Expected<float> millisecondsBetween(void *earlier, void *later) override;
  void destroyEvent(void *event) override;

  Expected<uint64_t> allocate(uint64_t bytes) override;
  Expected<void> fillWithZeros(uint64_t address, uint64_t bytes, void *stream) override;
  void release(uint64_t address) override;

  /// A failure of `call`; if an earlier launch caused it, it names the kernels that may have failed.
  Error failure(const std::string &code, const std::string &what, const char *call, hip::Result result) const;

private:
  HipDevice(HipDriver &driver, int ordinal) : GpuDevice(ordinal), owner(driver) {}

  int attribute(hip::DeviceAttribute attribute) const;
  void readProperties();
  /// A call while this is the thread's device; its name is for the message.
  template <typename Function, typename... Args>
  Expected<void> call(const char *callName, Function function, Args... args);
  void keepScratch();
  bool fits(const HipKernel &kernel, Grid grid) const;
  Error gridError(const HipKernel &kernel, Grid grid) const;
  Error launchError(const HipKernel &kernel, Grid grid, const char *call, hip::Result result) const;
  Expected<void> launchWithScratch(const HipKernel &kernel, Grid grid, hip::Stream stream,
                                   std::span<const char> packed);
  Expected<void> enqueue(const HipKernel &kernel, Grid grid, hip::Stream stream, std::span<const char> packed);

  HipDriver &owner;
  std::string archName;
  DeviceProperties known;
  uint64_t maxGrid[3] = {1, 1, 1};
  bool isCooperative = false;
  std::atomic<bool> keepsScratch{false};
};

struct HipDeviceScope : CurrentScope<int> {
  HipDeviceScope(const hip::HipCalls &calls, int wanted)
      : CurrentScope({calls.hipGetDevice, "hipGetDevice", calls.hipSetDevice, "hipSetDevice"}, wanted) {}
};

} // namespace nereid::runtime
