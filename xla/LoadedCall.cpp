// Checks parameters against the kernel and buffers against the parameters, and launches.
// SPDX-License-Identifier: MIT
#include "xla/LoadedCall.h"

#include "runtime/cuda/CudaDevice.h"

#include <cstring>

namespace nereid::xla {

using artifact::ParameterKind;
using artifact::Precondition;
using artifact::PreconditionKind;

/// "fp32" of "*fp32" and "*kfp32"; empty where the payload does not contain the type.
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
  const artifact::ElementInfo *element = findXlaType(buffer.type);
  if (!element)
    return std::nullopt;
  uint64_t bits = element->storageBits();
  for (int64_t extent : buffer.dims)
    if (extent < 0 || __builtin_mul_overflow(bits, static_cast<uint64_t>(extent), &bits))
      return std::nullopt;
  return artifact::bytesOfBits(bits);
}

//--- Loading -----------------------------------------------------------------------------------

static Error parameterError(const artifact::Artifact &artifact, uint32_t index, std::string text) {
  return {"payload-parameter",
          "parameter `" + artifact.parameters[index].name + "` of kernel `" + artifact.name + "`: " + std::move(text)};
}

/// A payload has no scalars of 8 and 16 bits: narrow integers, and the bits of narrow floats, are passed in wider
/// integers.
Expected<void> LoadedCall::addScalar(const ScalarParameter &scalar, uint32_t index) {
  const artifact::Artifact &artifact = kernel->artifact();
  const artifact::Parameter &parameter = artifact.parameters[index];
  const ParameterKind kind = parameterKindOf(scalar.type);
  const uint64_t size = artifact::storageBytes(scalar.type);
  const bool isAsItIs = parameter.kind == kind && parameter.size == size;
  const bool isNarrow = kind == ParameterKind::Int && parameter.size < size &&
                        (parameter.kind == ParameterKind::Int || parameter.kind == ParameterKind::Float);
  if (!isAsItIs && !isNarrow)
    return parameterError(artifact, index,
                          "the payload gives a scalar of " + std::to_string(size) + " bytes; the kernel takes " +
                              parameter.type);
  for (const Precondition &precondition : artifact.preconditions) {
    if (precondition.parameter != index)
      continue;
    const bool holds = precondition.kind == PreconditionKind::Divisible
                           ? precondition.value == 0 || scalar.bits % precondition.value == 0
                           : precondition.kind != PreconditionKind::Equals || scalar.bits == precondition.value;
    if (!holds)
      return parameterError(artifact, index,
                            "the value " + std::to_string(scalar.bits) + " is not what the code was " +
                                "compiled for (" + std::to_string(precondition.value) + ")");
  }
  std::memcpy(block.data() + parameter.offset, &scalar.bits, parameter.size);
  return {};
}

Expected<void> LoadedCall::addArray(const ArrayParameter &array, uint32_t index) {
  const artifact::Artifact &artifact = kernel->artifact();
  const artifact::Parameter &parameter = artifact.parameters[index];
  if (parameter.kind != ParameterKind::Pointer)
    return parameterError(artifact, index, "the payload gives an array; the kernel takes " + parameter.type);
  BufferParam param{
      .offset = parameter.offset, .parameter = index, .bytesToZero = array.bytesToZero, .shape = array.shape};
  param.buffer = array.buffer.value_or(static_cast<uint32_t>(params.size()));
  takesAllBuffers &= !array.buffer;
  neededBuffers = std::max<size_t>(neededBuffers, size_t{param.buffer} + 1);
  param.divisibility = std::max<uint64_t>(array.divisibility, 1);
  param.types = ElementTypes::takenBy(pointee(parameter));
  param.isWritten = !parameter.type.empty() && parameter.isWritten;
  for (const Precondition &precondition : artifact.preconditions) {
    if (precondition.parameter != index)
      continue;
    if (precondition.kind == PreconditionKind::Divisible)
      param.divisibility = std::max(param.divisibility, precondition.value);
    if (precondition.kind == PreconditionKind::Within)
      param.spanLimit = precondition.value;
  }
  params.push_back(std::move(param));
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

std::string LoadedCall::describe(const BufferParam &param, const Buffer &buffer) const {
  const artifact::Artifact &artifact = kernel->artifact();
  std::string what = buffer.isTyped ? (buffer.isResult ? "result" : "operand") : "buffer";
  return "kernel `" + artifact.name + "`, parameter `" + artifact.parameters[param.parameter].name + "` (" + what +
         ", number " + std::to_string(param.buffer) + " of the call's buffers)";
}

Expected<void> LoadedCall::checkType(const BufferParam &param, const Buffer &buffer) const {
  if (!param.types.contain(buffer.type))
    return Error{"xla-dtype", describe(param, buffer) + " has elements of type " + xlaName(buffer.type) +
                                  "; the kernel was compiled for " +
                                  std::string(pointee(kernel->artifact().parameters[param.parameter]))};
  if (param.shape && !std::equal(buffer.dims.begin(), buffer.dims.end(), param.shape->begin(), param.shape->end(),
                                 [](int64_t is, uint64_t wants) { return static_cast<uint64_t>(is) == wants; }))
    return Error{"xla-shape", describe(param, buffer) + " has the shape " + shapeText(buffer.dims) +
                                  "; the call was made for " + shapeText(*param.shape)};
  if (param.bytesToZero == 0 && param.spanLimit == 0)
    return {};
  const std::optional<uint64_t> bytes = bytesOf(buffer);
  if (param.bytesToZero && (!bytes || *bytes < param.bytesToZero))
    return Error{"xla-shape", describe(param, buffer) + " has " + std::to_string(bytes.value_or(0)) + " bytes; " +
                                  std::to_string(param.bytesToZero) + " are to be set to zero"};
  if (param.spanLimit && bytes.value_or(param.spanLimit) >= param.spanLimit)
    return Error{"xla-shape", describe(param, buffer) + " has " + std::to_string(bytes.value_or(0)) +
                                  " bytes; the code counts on fewer than " + std::to_string(param.spanLimit)};
  return {};
}

/// Whether a result shares the operand's memory, by an alias that the graph declares.
static bool isResultToo(const Buffer &operand, const Buffers &buffers) {
  for (const Buffer &other : buffers.list)
    if (other.isResult && other.data == operand.data)
      return true;
  return false;
}

Expected<void> LoadedCall::check(const BufferParam &param, const Buffer &buffer, const Buffers &buffers) const {
  if (reinterpret_cast<uintptr_t>(buffer.data) % param.divisibility != 0)
    return Error{"xla-alignment", describe(param, buffer) + " lies at an address that is no multiple of " +
                                      std::to_string(param.divisibility) + ", which the code counts on"};
  if (!buffer.isTyped)
    return {};
  if (auto ok = checkType(param, buffer); !ok)
    return ok;
  if (param.isWritten && !buffer.isResult && !mayWriteOperands && !isResultToo(buffer, buffers))
    return Error{"xla-operand-written", describe(param, buffer) + " is written by the kernel, and no result " +
                                            "shares its memory; declare an alias of operand and result"};
  return {};
}

Expected<void> LoadedCall::checkCount(const Buffers &buffers) const {
  const size_t count = buffers.list.size();
  if (buffers.untyped || (takesAllBuffers ? count == neededBuffers : count >= neededBuffers))
    return {};
  return Error{"xla-buffers", "kernel `" + name() + "` takes " + std::to_string(neededBuffers) +
                                  " arrays; the call has " + std::to_string(count) + " operands and results"};
}

Expected<void> LoadedCall::pack(const Buffers &buffers, char *packed) const {
  std::memcpy(packed, block.data(), block.size());
  for (const BufferParam &param : params) {
    const Buffer buffer = buffers.at(param.buffer);
    if (auto ok = check(param, buffer, buffers); !ok)
      return ok;
    std::memcpy(packed + param.offset, &buffer.data, sizeof buffer.data);
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
  for (const BufferParam &param : params)
    if (param.bytesToZero)
      if (auto ok = setToZero(device, buffers.at(param.buffer).data, param.bytesToZero, stream); !ok)
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
  const runtime::CurrentScope scope(*gpu, *context);
  const auto &fill = gpu->calls().fill;
  const auto result = scope.outcome.result != runtime::gpu::Success
                          ? scope.outcome.result
                          : fill(reinterpret_cast<uint64_t>(data), 0, bytes, static_cast<runtime::gpu::Stream>(stream));
  if (result != runtime::gpu::Success)
    return gpu->failure("launch-failed", "memory of " + gpu->name() + " cannot be set to zero", {fill.name, result});
  return {};
}

} // namespace nereid::xla
