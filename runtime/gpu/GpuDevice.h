// What a device of a GPU has beyond loading and launching: streams, events, memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"
#include "runtime/gpu/LaunchHistory.h"

namespace nereid::runtime {

/// The driver's information about an address.
struct PointerInfo {
  bool isKnown = false;  ///< memory that the driver allocated or registered
  bool isOnHost = false; ///< even if a GPU may read it
  int ordinal = 0;       ///< of the device that owns it
  uint64_t onDevice = 0; ///< the address by which kernels access it
  uint64_t start = 0;    ///< of the allocation
  uint64_t bytes = 0;
};

/// One GPU of a driver that was found at run time. Streams and events are the driver's own handles.
class GpuDevice : public Device {
public:
  explicit GpuDevice(int ordinal) : index(ordinal) {}

  int ordinal() const { return index; }
  /// "cuda:0"
  virtual std::string name() const = 0;

  /// Makes it the calling thread's current device.
  virtual Expected<void> makeCurrent() = 0;
  /// Waits for all work in the device's streams.
  virtual Expected<void> synchronize() = 0;
  /// Work that `later` is given from now on starts after all work that `earlier` has been given so far.
  virtual Expected<void> orderStreams(void *earlier, void *later) = 0;
  virtual Expected<PointerInfo> pointerInfo(uint64_t address) = 0;
  /// Whether kernels on this device may access an address in memory of another one: peer access to it is on.
  virtual bool canAccess(uint64_t address) = 0;
  /// The number of devices of its driver, and one of them; null where there is none of that number.
  virtual int siblingCount() const = 0;
  virtual GpuDevice *sibling(int number) const = 0;

  virtual Expected<void *> createEvent() = 0;
  virtual Expected<void> recordEvent(void *event, void *stream) = 0;
  virtual Expected<float> millisecondsBetween(void *earlier, void *later) = 0;
  virtual void destroyEvent(void *event) = 0;

  virtual Expected<uint64_t> allocate(uint64_t bytes) = 0;
  virtual Expected<void> fillWithZeros(uint64_t address, uint64_t bytes, void *stream) = 0;
  virtual void release(uint64_t address) = 0;

protected:
  /// The error of a call that reports the failure of an earlier kernel. A launch with `blockingVariable` set to 1 waits
  /// for its kernel.
  Error earlierFailure(const std::string &what, const std::string &driverText, const char *blockingVariable) const;

  LaunchHistory history;

private:
  const int index;
};

} // namespace nereid::runtime
