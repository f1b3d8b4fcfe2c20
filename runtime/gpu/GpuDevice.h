// One GPU of a driver that was found at run time: streams, events, memory, and what loads and launches have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"
#include "runtime/gpu/CurrentScope.h"
#include "runtime/gpu/GpuDriver.h"
#include "runtime/gpu/LaunchHistory.h"
#include "runtime/gpu/PeerArguments.h"

#include <algorithm>
#include <atomic>

namespace nereid::runtime {

class DriverKernel;

/// The driver's information about an address.
struct PointerInfo {
  bool isKnown = false;  ///< memory that the driver allocated or registered
  bool isOnHost = false; ///< even if a GPU may read it
  int ordinal = 0;       ///< of the device that owns it
  uint64_t onDevice = 0; ///< the address by which kernels access it
  uint64_t start = 0;    ///< of the allocation
  uint64_t bytes = 0;
};

/// Whether kernels of a GPU may access memory of another one; Never: the two GPUs are not connected.
enum class PeerAccess : uint8_t { On, Off, Never, Unknown };

/// Streams and events are the driver's own handles.
class GpuDevice : public Device {
public:
  int ordinal() const { return index; }
  /// "cuda:0"
  std::string name() const;
  /// The architecture as targets name it: "90" of compute capability 9.0, "gfx942".
  virtual std::string arch() const = 0;
  const DeviceProperties &properties() const override { return known; }
  const gpu::SharedCalls &calls() const { return library.sharedCalls(); }

  Expected<std::shared_ptr<Kernel>> load(artifact::Artifact artifact) override;
  /// Enqueues the launch on the stream (null is the default stream) and returns. Where a kernel needs scratch and the
  /// pointer in the arguments is null, the memory is allocated on the stream for this launch.
  Expected<void> launch(Kernel &kernel, Grid grid, void *stream, std::span<const char> packed) override;

  /// Makes it the calling thread's current device.
  Expected<void> makeCurrent();
  /// Waits for all work in the device's streams.
  Expected<void> synchronize();
  /// Work that `later` is given from now on starts after all work that `earlier` has been given so far.
  Expected<void> orderStreams(void *earlier, void *later);
  virtual Expected<PointerInfo> pointerInfo(uint64_t address) = 0;
  /// Whether kernels on this device may access an address in memory of another one: peer access to it is on.
  virtual bool canAccess(uint64_t address) = 0;
  /// Records that a launch takes memory of another device: a failure of the launch names it where access is off.
  void notePeer(const std::string &kernel, const std::string &parameter, uint64_t address, int owner);
  /// The number of devices of its driver, and one of them; null where there is none of that number.
  int siblingCount() const { return library.deviceCount(); }
  GpuDevice *sibling(int number) const;

  Expected<void *> createEvent();
  Expected<void> recordEvent(void *event, void *stream);
  Expected<float> millisecondsBetween(void *earlier, void *later);
  void destroyEvent(void *event);

  Expected<uint64_t> allocate(uint64_t bytes);
  Expected<void> fillWithZeros(uint64_t address, uint64_t bytes, void *stream);
  void release(uint64_t address);

  /// A failure of `call`; if an earlier launch caused it, it names the kernels that may have failed.
  Error failure(const std::string &code, const std::string &what, gpu::CallResult failed) const;
  /// A failure of the code `BACKEND-call`.
  Error failure(const std::string &what, gpu::CallResult failed) const;

  //--- what is current for a thread: a context of CUDA, the number of a device of HIP ---------
  virtual Expected<void *> wantedCurrent() = 0;
  virtual gpu::CallResult getCurrent(void *&current) const = 0;
  virtual gpu::CallResult setCurrent(void *current) const = 0;

protected:
  /// `handle` is the driver's own number of the device.
  GpuDevice(const GpuDriver &library, int ordinal, int handle) : library(library), handle(handle), index(ordinal) {}

  /// 0 where the driver does not know.
  template <typename Attribute> int attribute(Attribute which) const {
    int value = 0;
    return calls().deviceAttribute(&value, static_cast<int>(which), handle) == gpu::Success ? value : 0;
  }
  /// At least 1: newer drivers return 0 for obsolete figures (clocks).
  template <typename Attribute> uint32_t positive(Attribute which) const {
    return static_cast<uint32_t>(std::max(attribute(which), 1));
  }
  /// Reads the properties but for the name.
  template <typename Attribute> void readProperties();

  //--- loading ---------------------------------------------------------------------------------
  /// The checks that need no driver.
  virtual Expected<void> checkArtifact(const artifact::Artifact &artifact) const = 0;
  virtual Expected<gpu::Module> loadModule(const artifact::Artifact &artifact) const = 0;
  virtual Expected<std::shared_ptr<Kernel>> makeKernel(artifact::Artifact artifact, gpu::Module module,
                                                       gpu::Function function) = 0;
  /// The kernel's resources, if the device has them. The queries also make the driver load the code onto the device,
  /// which would otherwise happen at the first launch.
  Expected<KernelResources> readResources(const artifact::Artifact &artifact, gpu::Function function) const;

  //--- launching -------------------------------------------------------------------------------
  /// A launch with arguments of the right size and at least one program.
  virtual Expected<void> launchOn(const DriverKernel &kernel, Grid grid, gpu::Stream stream,
                                  std::span<const char> packed) = 0;
  /// The access to memory of the device `owner`; asked after a failure, when other calls may fail, too.
  virtual PeerAccess peerAccess(uint64_t, int /*owner*/) const { return PeerAccess::Unknown; }
  Error launchError(const DriverKernel &kernel, Grid ctas, gpu::CallResult failed) const;

  const GpuDriver &library;
  const int handle;
  DeviceProperties known;
  LaunchHistory history;

private:
  /// A call with the device current.
  template <typename... Parameters, typename... Arguments>
  Expected<void> call(const gpu::Call<gpu::Result(Parameters...)> &function, Arguments... arguments);
  Expected<gpu::Function> findFunction(const artifact::Artifact &artifact, gpu::Module module) const;
  void keepScratch();

  std::string peerText() const;

  const int index;
  PeerArguments peers;
  std::atomic<bool> keepsScratch{false};
};

template <typename Attribute> void GpuDevice::readProperties() {
  known.multiprocessorCount = positive(Attribute::MultiprocessorCount);
  known.maxNumRegs = positive(Attribute::MaxRegisters);
  known.maxSharedMem = positive(Attribute::MaxSharedMemoryPerBlock);
  known.warpSize = positive(Attribute::WarpSize);
  known.maxThreadsPerSm = positive(Attribute::MaxThreadsPerMultiprocessor);
  known.maxThreadsPerBlock = positive(Attribute::MaxThreadsPerBlock);
  known.smClockRateKhz = positive(Attribute::ClockRateKhz);
  known.memClockRateKhz = positive(Attribute::MemoryClockRateKhz);
  known.memBusWidthBits = positive(Attribute::MemoryBusWidthBits);
  known.lastLevelCacheBytes = positive(Attribute::L2CacheBytes);
}

} // namespace nereid::runtime
