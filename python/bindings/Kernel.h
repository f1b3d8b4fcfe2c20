// A kernel that is ready to run, and how Python's arguments become its argument block.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "python/bindings/Arrays.h"
#include "runtime/Device.h"

#include <memory>
#include <vector>

namespace nereid::python {

/// One argument of a launch, as far as the argument block needs it.
struct Leaf {
  enum class Kind : uint8_t { None, Bool, Int, UInt, Float, Address };
  Kind kind = Kind::None;
  union {
    int64_t integer;
    uint64_t bits; ///< of an unsigned integer or an address
    double number;
  };
  Leaf() : bits(0) {}
};

enum class PackResult : uint8_t { Packed, WrongKind, OutOfRange };

/// Where one parameter goes, and in which form.
struct Slot {
  uint32_t position; ///< among all arguments, constants counted
  uint32_t offset;
  uint32_t size;
  artifact::ParameterKind kind;
  jit::ScalarType type; ///< of the scalar, or behind the pointer
};
PackResult pack(const Slot &slot, const Leaf &leaf, char *block);

/// Argument blocks up to this size are built on the stack.
inline constexpr size_t stackBlockBytes = 1024;

class LoadedKernel {
public:
  /// Loads the artifact onto its device; a Python exception where that fails.
  static std::shared_ptr<LoadedKernel> load(const artifact::Artifact &artifact);

  const artifact::Artifact &artifact() const { return kernel->artifact(); }
  const std::vector<Slot> &slots() const { return plan; }
  size_t blockBytes() const { return bytes; }
  DeviceKind device() const { return deviceKind; }
  /// Number of arguments with constants, where the artifact tells; else 0.
  size_t argumentCount() const { return arguments; }

  /// Runs the kernel without the GIL. False, with a Python exception, on failure or an interrupt.
  bool launch(runtime::Grid grid, void *stream, const char *block);

  /// `CompiledKernel`'s way to launch: every argument of the signature in order.
  void launchWithArguments(runtime::Grid grid, void *stream, nb::handle args);

private:
  std::shared_ptr<runtime::Kernel> kernel;
  runtime::Device *runner = nullptr;
  std::vector<Slot> plan;
  size_t bytes = 0, arguments = 0;
  DeviceKind deviceKind = DeviceKind::Cpu;
};

/// The kernel behind an object of class `Kernel`; null for any other object.
LoadedKernel *loadedKernelOf(nb::handle object);

} // namespace nereid::python
