// Checks parameters against the kernel, and buffers against the parameters; launches.
// SPDX-License-Identifier: MIT
#include "xla/LoadedCall.h"

#include "runtime/cuda/CudaDevice.h"

#include <cstring>

namespace nereid::xla {

using artifact::Fact;
using artifact::FactKind;
using artifact::ParameterKind;

/// "fp32" of "*fp32" and "*kfp32"; empty where the payload does not tell.
static std::string_view pointee(const artifact::Parameter &parameter) {
  std::string_view type = parameter.type;
  if (type.starts_with("*k"))
    return type.substr(2);
  return type.starts_with("*") ? type.substr(1) : std::string_view();
}

template <typename Extents> static std::string shapeText(const Extents &extents) {
  std::string text = "[";
  for (size_t i = 0; i < extents.size(); ++i)
    text += (i ? ", " : "") + std::to_string(extents[i]);
  return text + "]";
}

std::optional<uint64_t> bytesOf(const Buffer &buffer) {
  std::optional<uint64_t> bytes = elementBytes(buffer.type);
  for (int64_t extent : buffer.dims)
    if (bytes && (extent < 0 || __builtin_mul_overflow(*bytes, static_cast<uint64_t>(extent), &*bytes)))
      bytes.reset();
  return bytes;
}

//--- Loading -----------------------------------------------------------------------------------

static Error parameterError(const artifact::Artifact &artifact, uint32_t index, std::string text) {
  return {"payload-parameter",
          "parameter `" + artifact.parameters[index].name + "` of kernel `" + artifact.name + "`: " + std::move(text)};
}

/// A payload has no scalars of 8 and 16 bits: narrow integers, and the bits of narrow floats, come in wider integers.
Expected<void> LoadedCall::addScalar(const ScalarParameter &scalar, uint32_t index) {
  const artifact::Artifact &artifact = kernel->artifact();
  const artifact::Parameter &parameter = artifact.parameters[index];
  const auto [kind, type, size] = formOf(scalar.kind);
  const bool isAsItIs = parameter.kind == kind && parameter.size == size;
  const bool isNarrow = kind == ParameterKind::Int && parameter.size < size &&
                        (parameter.kind == ParameterKind::Int || parameter.kind == ParameterKind::Float);
  if (!isAsItIs && !isNarrow)
    return parameterError(artifact, index,
                          "the payload gives a scalar of " + std::to_string(size) + " bytes; the kernel takes " +
                              parameter.type);
  for (const Fact &fact : artifact.facts) {
    if (fact.parameter != index)
      continue;
    const bool holds = fact.kind == FactKind::Divisible ? fact.value == 0 || scalar.bits % fact.value == 0
                                                        : fact.kind != FactKind::Equals || scalar.bits == fact.value;
    if (!holds)
      return parameterError(artifact, index,
                            "the value " + std::to_string(scalar.bits) + " is not what the code was " +
                                "compiled for (" + std::to_string(fact.value) + ")");
  }
  std::memcpy(block.data() + parameter.offset, &scalar.bits, parameter.size);
  return {};
}

Expected<void> LoadedCall::addArray(const ArrayParameter &array, uint32_t index) {
  const artifact::Artifact &artifact = kernel->artifact();
  const artifact::Parameter &parameter = artifact.parameters[index];
  if (parameter.kind != ParameterKind::Pointer)
    return parameterError(artifact, index, "the payload gives an array; the kernel takes " + parameter.type);
  Slot slot{.offset = parameter.offset, .parameter = index, .bytesToZero = array.bytesToZero, .shape = array.shape};
  slot.buffer = array.buffer.value_or(static_cast<uint32_t>(slots.size()));
  takesAllBuffers &= !array.buffer;
  neededBuffers = std::max<size_t>(neededBuffers, size_t{slot.buffer} + 1);
  slot.divisibility = std::max<uint64_t>(array.divisibility, 1);
  slot.types = ElementTypes::takenBy(pointee(parameter));
  slot.isWritten = !parameter.type.empty() && parameter.isWritten;
  for (const Fact &fact : artifact.facts) {
    if (fact.parameter != index)
      continue;
    if (fact.kind == FactKind::Divisible)
      slot.divisibility = std::max(slot.divisibility, fact.value);
    if (fact.kind == FactKind::Within)
      slot.spanLimit = fact.value;
  }
  slots.push_back(std::move(slot));
  return {};
}

Expected<void> LoadedCall::addParameters(const KernelCall &call) {
  const artifact::Artifact &artifact = kernel->artifact();
  if (call.parameters.size() != artifact.parameters.size())
    return Error{"payload-parameter", "kernel `" + artifact.name + "` takes " +
                                          std::to_string(artifact.parameters.size()) + " arguments; the payload has " +
                                          std::to_string(call.parameters.size())};
  block.resize(artifact::packedBytes(artifact));
  for (uint32_t index = 0; index < call.parameters.size(); ++index) {
    const artifact::Parameter &parameter = artifact.parameters[index];
    if (parameter.size > 8 || uint64_t{parameter.offset} + parameter.size > block.size())
      return parameterError(artifact, index, "it takes " + parameter.type + ", which no payload can pass");
    const auto *scalar = std::get_if<ScalarParameter>(&call.parameters[index]);
    auto added = scalar ? addScalar(*scalar, index) : addArray(std::get<ArrayParameter>(call.parameters[index]), index);
    if (!added)
      return added;
  }
  return {};
}

Expected<std::unique_ptr<LoadedCall>> LoadedCall::load(const KernelCall &call, runtime::Device &device) {
  auto artifact = artifactOf(call);
  if (!artifact)
    return artifact.error();
  auto kernel = device.load(std::move(*artifact));
  if (!kernel)
    return kernel.error();
  std::unique_ptr<LoadedCall> loaded(new LoadedCall(device, std::move(*kernel)));
  loaded->grid = {call.grid[0], call.grid[1], call.grid[2]};
  loaded->mayWriteOperands = call.mayWriteOperands;
  if (auto added = loaded->addParameters(call); !added)
    return added.error();
  return loaded;
}

//--- Buffers -----------------------------------------------------------------------------------

std::string LoadedCall::describe(const Slot &slot, const Buffer &buffer) const {
  const artifact::Artifact &artifact = kernel->artifact();
  std::string what = buffer.isTyped ? (buffer.isResult ? "result" : "operand") : "buffer";
  return "kernel `" + artifact.name + "`, parameter `" + artifact.parameters[slot.parameter].name + "` (" + what +
         ", number " + std::to_string(slot.buffer) + " of the call's buffers)";
}

Expected<void> LoadedCall::checkType(const Slot &slot, const Buffer &buffer) const {
  if (!slot.types.contain(buffer.type))
    return Error{"xla-dtype", describe(slot, buffer) + " has elements of type " + xlaName(buffer.type) +
                                  "; the kernel was compiled for " +
                                  std::string(pointee(kernel->artifact().parameters[slot.parameter]))};
  if (slot.shape && !std::equal(buffer.dims.begin(), buffer.dims.end(), slot.shape->begin(), slot.shape->end(),
                                [](int64_t is, uint64_t wants) { return static_cast<uint64_t>(is) == wants; }))
    return Error{"xla-shape", describe(slot, buffer) + " has the shape " + shapeText(buffer.dims) +
                                  "; the call was made for " + shapeText(*slot.shape)};
  if (slot.bytesToZero == 0 && slot.spanLimit == 0)
    return {};
  const std::optional<uint64_t> bytes = bytesOf(buffer);
  if (slot.bytesToZero && (!bytes || *bytes < slot.bytesToZero))
    return Error{"xla-shape", describe(slot, buffer) + " has " + std::to_string(bytes.value_or(0)) + " bytes; " +
                                  std::to_string(slot.bytesToZero) + " are to be set to zero"};
  if (slot.spanLimit && bytes.value_or(slot.spanLimit) >= slot.spanLimit)
    return Error{"xla-shape", describe(slot, buffer) + " has " + std::to_string(bytes.value_or(0)) +
                                  " bytes; the code counts on fewer than " + std::to_string(slot.spanLimit)};
  return {};
}

/// Whether a result has the operand's memory, by an alias that the graph declares.
static bool isResultToo(const Buffer &operand, const Buffers &buffers) {
  for (const Buffer &other : buffers.list)
    if (other.isResult && other.data == operand.data)
      return true;
  return false;
}

Expected<void> LoadedCall::check(const Slot &slot, const Buffer &buffer, const Buffers &buffers) const {
  if (reinterpret_cast<uintptr_t>(buffer.data) % slot.divisibility != 0)
    return Error{"xla-alignment", describe(slot, buffer) + " lies at an address that is no multiple of " +
                                      std::to_string(slot.divisibility) + ", which the code counts on"};
  if (!buffer.isTyped)
    return {};
  if (auto ok = checkType(slot, buffer); !ok)
    return ok;
  if (slot.isWritten && !buffer.isResult && !mayWriteOperands && !isResultToo(buffer, buffers))
    return Error{"xla-operand-written", describe(slot, buffer) + " is written by the kernel, and no result " +
                                            "shares its memory; declare an alias of operand and result"};
  return {};
}

Expected<void> LoadedCall::checkCount(const Buffers &buffers) const {
  const size_t given = buffers.list.size();
  if (buffers.untyped || (takesAllBuffers ? given == neededBuffers : given >= neededBuffers))
    return {};
  return Error{"xla-buffers", "kernel `" + name() + "` takes " + std::to_string(neededBuffers) +
                                  " arrays; the call has " + std::to_string(given) + " operands and results"};
}

Expected<void> LoadedCall::pack(const Buffers &buffers, char *packed) const {
  std::memcpy(packed, block.data(), block.size());
  for (const Slot &slot : slots) {
    const Buffer buffer = buffers.at(slot.buffer);
    if (auto ok = check(slot, buffer, buffers); !ok)
      return ok;
    std::memcpy(packed + slot.offset, &buffer.data, sizeof buffer.data);
  }
  return {};
}

Expected<void> LoadedCall::run(const Buffers &buffers, void *stream) const {
  constexpr size_t kUsual = 512;
  if (auto ok = checkCount(buffers); !ok)
    return ok;
  alignas(16) char few[kUsual];
  std::vector<char> many(block.size() > kUsual ? block.size() : 0);
  char *const packed = many.empty() ? few : many.data();
  if (auto ok = pack(buffers, packed); !ok)
    return ok;
  for (const Slot &slot : slots)
    if (slot.bytesToZero)
      if (auto ok = setToZero(device, buffers.at(slot.buffer).data, slot.bytesToZero, stream); !ok)
        return ok;
  return device.launch(*kernel, grid, stream, {packed, block.size()});
}

Expected<void> setToZero(runtime::Device &device, void *data, uint64_t bytes, void *stream) {
  auto *gpu = dynamic_cast<runtime::CudaDevice *>(&device);
  if (!gpu) {
    std::memset(data, 0, bytes);
    return {};
  }
  auto context = gpu->context();
  if (!context)
    return context.error();
  const auto &calls = gpu->driver().calls();
  const runtime::ContextScope scope(calls, *context);
  const auto result = scope.result != runtime::cuda::Success
                          ? scope.result
                          : calls.cuMemsetD8Async(reinterpret_cast<uint64_t>(data), 0, bytes,
                                                  static_cast<runtime::cuda::Stream>(stream));
  if (result != runtime::cuda::Success)
    return gpu->failure("launch-failed", "memory of " + gpu->name() + " cannot be set to zero", "cuMemsetD8Async",
                        result);
  return {};
}

} // namespace nereid::xla
