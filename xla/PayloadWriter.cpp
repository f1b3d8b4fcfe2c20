// Writes a payload as jaxlib's own library does.
// SPDX-License-Identifier: MIT
#include "xla/Payload.h"
#include "xla/PayloadFields.h"

#include <algorithm>

namespace nereid::xla {

using field::WireType;

namespace {
/// A message under construction. `add` omits what is zero or empty; `put` does not.
class Message {
public:
  void put(uint32_t field, uint64_t value) {
    tag(field, WireType::Varint);
    varint(value);
  }
  void add(uint32_t field, uint64_t value) {
    if (value)
      put(field, value);
  }
  void put(uint32_t field, std::string_view value) {
    tag(field, WireType::Bytes);
    varint(value.size());
    bytes.append(value);
  }
  void add(uint32_t field, std::string_view value) {
    if (!value.empty())
      put(field, value);
  }
  void put(uint32_t field, const Message &message) { put(field, std::string_view(message.bytes)); }
  void putFixed(uint32_t field, WireType wire, uint64_t value) {
    tag(field, wire);
    for (int i = 0; i < (wire == WireType::Fixed32 ? 4 : 8); ++i)
      bytes.push_back(static_cast<char>(value >> (8 * i)));
  }
  std::string take() { return std::move(bytes); }

private:
  void tag(uint32_t field, WireType wire) { varint(uint64_t{field} << 3 | static_cast<uint32_t>(wire)); }
  void varint(uint64_t value) {
    for (; value > 127; value >>= 7)
      bytes.push_back(static_cast<char>(value | 128));
    bytes.push_back(static_cast<char>(value));
  }
  std::string bytes;
};
} // namespace

static Message arrayMessage(const ArrayParameter &array) {
  Message message;
  message.add(field::array::BytesToZero, array.bytesToZero);
  message.add(field::array::Divisibility, array.divisibility);
  if (array.shape) {
    Message shape;
    for (uint64_t extent : *array.shape)
      shape.put(field::shape::Extent, extent);
    message.put(field::array::Shape, shape);
  }
  if (array.buffer)
    message.put(field::array::Buffer, *array.buffer);
  return message;
}

static void putScalar(Message &message, const ScalarParameter &scalar) {
  const auto [number, type] = *std::ranges::find(field::kScalars, scalar.type, [](auto &each) { return each.second; });
  if (type == artifact::ElementType::Int32) // a negative number is written in 64 bits
    message.put(number, static_cast<uint64_t>(int64_t{static_cast<int32_t>(scalar.bits)}));
  else if (artifact::infoOf(type).isFloat())
    message.putFixed(number, artifact::infoOf(type).bits == 32 ? WireType::Fixed32 : WireType::Fixed64, scalar.bits);
  else
    message.put(number, scalar.bits);
}

static Message parameterMessage(const Parameter &parameter) {
  Message message;
  if (const auto *array = std::get_if<ArrayParameter>(&parameter))
    message.put(field::parameter::Array, arrayMessage(*array));
  else
    putScalar(message, std::get<ScalarParameter>(parameter));
  return message;
}

static Message kernelMessage(const KernelCode &kernel) {
  using namespace field;
  Message message;
  message.add(kernel::Name, kernel.name);
  message.add(kernel::NumWarps, kernel.numWarps);
  message.add(kernel::SharedBytes, kernel.sharedBytes);
  message.add(kernel::Ptx, kernel.ptx);
  message.add(kernel::Ttir, kernel.ttir);
  message.add(kernel::ComputeCapability, kernel.computeCapability);
  if (kernel.cluster) {
    message.add(kernel::ClusterX, (*kernel.cluster)[0]);
    message.add(kernel::ClusterY, (*kernel.cluster)[1]);
    message.add(kernel::ClusterZ, (*kernel.cluster)[2]);
  }
  if (kernel.numCtas)
    message.put(kernel::NumCtas, *kernel.numCtas);
  if (kernel.scratch) {
    message.put(kernel::ScratchBytes, kernel.scratch->bytes);
    message.put(kernel::ScratchAlign, kernel.scratch->align);
  }
  message.add(kernel::Artifact, kernel.artifact);
  return message;
}

static Message callMessage(const KernelCall &call) {
  Message message;
  message.put(field::call::Kernel, kernelMessage(call.kernel));
  message.add(field::call::GridX, call.grid[0]);
  message.add(field::call::GridY, call.grid[1]);
  message.add(field::call::GridZ, call.grid[2]);
  for (const Parameter &parameter : call.parameters)
    message.put(field::call::Parameter, parameterMessage(parameter));
  message.add(field::call::MayWriteOperands, call.mayWriteOperands);
  return message;
}

static Message autotunedMessage(const AutotunedCall &call) {
  Message message;
  message.add(field::autotuned::Name, call.name);
  for (const AutotunedCall::Config &config : call.configs) {
    Message inner;
    inner.put(field::config::Call, callMessage(config.call));
    inner.add(field::config::Description, config.description);
    message.put(field::autotuned::Config, inner);
  }
  for (const AutotunedCall::Alias &alias : call.aliases) {
    Message inner;
    inner.add(field::alias::Operand, alias.operand);
    inner.add(field::alias::Result, alias.result);
    inner.add(field::alias::Bytes, alias.bytes);
    message.put(field::autotuned::Alias, inner);
  }
  return message;
}

std::string writeMessage(const Payload &payload) {
  Message message;
  if (const auto *call = std::get_if<KernelCall>(&payload.call))
    message.put(field::any::KernelCall, callMessage(*call));
  else
    message.put(field::any::AutotunedCall, autotunedMessage(std::get<AutotunedCall>(payload.call)));
  message.add(field::any::Metadata, payload.metadata);
  message.add(field::any::Name, payload.name);
  return message.take();
}

} // namespace nereid::xla
