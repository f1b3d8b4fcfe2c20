// A kernel call of a payload on a device: its arguments are checked and packed once, its buffers at each launch.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"
#include "xla/ElementType.h"
#include "xla/Payload.h"

#include <memory>
#include <span>

namespace nereid::xla {

/// A buffer that XLA passes. The untyped interface gives only the address.
struct Buffer {
  void *data = nullptr;
  bool isTyped = false;
  int32_t type = 0; ///< XLA's number
  std::span<const int64_t> dims = {};
  bool isResult = false;
};

/// The kind of a parameter that takes such scalars.
artifact::ParameterKind parameterKindOf(artifact::ElementType scalar);

/// Bytes of a typed buffer; nullopt where its type is unknown or the number exceeds all memory.
std::optional<uint64_t> bytesOf(const Buffer &buffer);

/// Buffers of one call: operands, then results; the untyped interface does not give their number.
struct Buffers {
  std::span<const Buffer> list = {};
  void *const *untyped = nullptr;

  Buffer at(size_t index) const { return untyped ? Buffer{.data = untyped[index]} : list[index]; }
};

/// The artifact of the call's kernel: the one in the payload, or one assembled from its PTX. Codes: `payload-kernel`,
/// `payload-parameter`, those of `artifact::deserialize`.
Expected<artifact::Artifact> artifactOf(const KernelCall &call);

class LoadedCall {
public:
  /// Codes: those of `artifactOf` and `Device::load`.
  static Expected<std::unique_ptr<LoadedCall>> load(const KernelCall &call, runtime::Device &device);

  /// Zeroes the buffers that the payload marks for it, and launches. Codes: `xla-buffers`, `xla-dtype`, `xla-shape`,
  /// `xla-alignment`, `xla-operand-written`, those of `Device::launch`.
  Expected<void> run(const Buffers &buffers, void *stream) const;

  const std::string &name() const { return kernel->artifact().name; }

private:
  /// A pointer of the packed arguments.
  struct BufferParam {
    uint32_t offset = 0;
    uint32_t parameter = 0; ///< index in the artifact
    uint32_t buffer = 0;    ///< index in the call
    uint64_t divisibility = 1;
    uint64_t bytesToZero = 0;
    uint64_t spanLimit = 0; ///< the code assumes fewer bytes than this; 0: no assumption
    ElementTypes types = {};
    bool isWritten = false; ///< unknown, and false, for PTX of another compiler
    std::optional<std::vector<uint64_t>> shape;
  };

  LoadedCall(runtime::Device &device, std::shared_ptr<runtime::Kernel> kernel)
      : device(device), kernel(std::move(kernel)) {}
  Expected<void> addParameters(const KernelCall &call);
  Expected<void> addScalar(const ScalarParameter &scalar, uint32_t index);
  Expected<void> addArray(const ArrayParameter &array, uint32_t index);
  Expected<void> checkCount(const Buffers &buffers) const;
  Expected<void> check(const BufferParam &param, const Buffer &buffer, const Buffers &buffers) const;
  Expected<void> checkType(const BufferParam &param, const Buffer &buffer) const;
  Expected<void> pack(const Buffers &buffers, char *packed) const;
  std::string describe(const BufferParam &param, const Buffer &buffer) const;

  runtime::Device &device;
  std::shared_ptr<runtime::Kernel> kernel;
  runtime::Grid grid;
  bool mayWriteOperands = false;
  std::vector<BufferParam> params;
  size_t neededBuffers = 0;
  bool takesAllBuffers = true; ///< in order; else the payload gives their indices
  std::vector<char> block;     ///< the packed arguments without the pointers
};

/// Zeroes bytes of the device's memory, in stream order.
Expected<void> setToZero(runtime::Device &device, void *data, uint64_t bytes, void *stream);

} // namespace nereid::xla
