// A loaded kernel, and the packing of Python's arguments for it.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "jit/Packing.h"
#include "python/bindings/Arrays.h"
#include "runtime/Device.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace nereid::runtime {
class GpuDevice;
}

namespace nereid::python {

using jit::ArgumentLeaf;
using jit::PackedParam;
using jit::PackResult;

/// Packed arguments up to this size are built on the stack.
inline constexpr size_t stackBlockBytes = 1024;

/// Raises the Python exception for a failure of the runtime.
[[noreturn]] void raiseRuntimeError(const runtime::Error &error);
/// The same, for code without C++ exceptions: sets it.
void setRuntimeError(const runtime::Error &error);

/// Scratch memory that the caller provides for a kernel; 0: the runtime provides it.
struct ScratchAddresses {
  uint64_t global = 0;
  uint64_t profile = 0;
};

class LoadedKernel {
public:
  /// Loads the artifact onto device `ordinal` of its backend; raises a Python exception on failure.
  static std::shared_ptr<LoadedKernel> load(const artifact::Artifact &artifact, int32_t ordinal);

  const artifact::Artifact &artifact() const { return kernel->artifact(); }
  const std::vector<PackedParam> &params() const { return plan; }
  /// Whether each parameter is a whole argument.
  bool takesWholeArguments() const { return isFlat; }
  size_t blockBytes() const { return bytes; }
  DeviceKind device() const { return deviceKind; }
  int32_t ordinal() const { return deviceOrdinal; }
  /// The kernel's device, which is no CPU.
  runtime::GpuDevice &gpu() const;
  runtime::KernelResources resources() const { return kernel->resources(); }
  void *handle() const { return kernel->handle(); }
  const runtime::Kernel &loaded() const { return *kernel; }
  /// The kernel of `setPlain`; null where there is none.
  const LoadedKernel *plainKernel() const { return plain.load(std::memory_order_acquire); }
  /// Whether a launch on a GPU needs scratch that Python may provide.
  bool wantsScratch() const {
    return deviceKind != DeviceKind::Cpu && (artifact().globalScratchBytes || artifact().profileScratchBytes);
  }
  /// Number of arguments with constants, where the artifact records it; else 0.
  size_t argumentCount() const { return arguments; }

  /// The kernel that a launch with this grid and these arguments takes: this one, or that of `setPlain`, which may be
  /// null, where the code does not fit them.
  LoadedKernel *kernelFor(runtime::Grid grid, const char *block) {
    return kernel->accepts(grid, std::span(block, bytes)) ? this : plain.load(std::memory_order_acquire);
  }
  /// Sets the kernel for arguments that the code does not fit: the same for the plain ABI. A later call has no effect.
  void setPlain(std::shared_ptr<LoadedKernel> other);

  /// Runs the kernel. False, with a Python exception, on failure or an interrupt. A CPU launch runs until it returns,
  /// so it releases the GIL; a GPU launch only enqueues, and releasing the GIL would take longer. With `program`, only
  /// that program of the grid runs; on the CPU only.
  bool launch(runtime::Grid grid, void *stream, const char *block, const runtime::Grid *program = nullptr) {
    return launch(grid, stream, std::span(block, bytes), program);
  }
  /// The same, with the extents of the accessed memory appended to the arguments.
  bool launch(runtime::Grid grid, void *stream, std::span<const char> packed, const runtime::Grid *program = nullptr);

  /// Makes `stream` wait for the work of the producer streams so far. False, with a Python exception, on failure.
  bool waitFor(const std::vector<uint64_t> &producers, void *stream);

  /// What becomes of a launch whose arguments the code does not fit.
  enum class Misfit : uint8_t { IsAnError, IsNotLaunched };
  /// The launch of a `CompiledKernel`: every argument of the signature in order. False where nothing was launched.
  bool launchWithArguments(runtime::Grid grid, void *stream, nb::handle args, ScratchAddresses scratch,
                           const runtime::Grid *program = nullptr, Misfit misfit = Misfit::IsAnError);

private:
  ArgumentLeaf readArgument(size_t index, PyObject *object, Array &array) const;

  std::shared_ptr<runtime::Kernel> kernel;
  runtime::Device *runner = nullptr;
  std::vector<PackedParam> plan;
  size_t bytes = 0, arguments = 0;
  bool isFlat = false;
  DeviceKind deviceKind = DeviceKind::Cpu;
  int32_t deviceOrdinal = 0;
  std::mutex settingPlain;
  std::shared_ptr<LoadedKernel> plainOwner;
  std::atomic<LoadedKernel *> plain{nullptr};
};

/// Keeps the arguments of a launch on a simulated GPU alive where it waits for others to run with it.
void keepCollected(nb::handle arguments);

/// Whether a launch that goes through Python checks every pointer with the driver.
extern std::atomic<bool> checkPointers;

/// The kernel of an object of class `Kernel`; null for any other object.
LoadedKernel *loadedKernelOf(nb::handle object);

} // namespace nereid::python
