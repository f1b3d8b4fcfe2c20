// Reads payloads, which are untrusted input: every length and every number is checked.
// SPDX-License-Identifier: MIT
#include "xla/Payload.h"
#include "xla/PayloadFields.h"

#include <algorithm>
#include <limits>

namespace nereid::xla {

using field::WireType;

namespace {

/// One field of a message: a number, or bytes.
struct Field {
  uint32_t number = 0;
  WireType wire = WireType::Varint;
  uint64_t value = 0;
  std::string_view bytes;
};

/// Iterates over a message. The first error is kept and ends the iteration.
class Reader {
public:
  Reader(std::string_view bytes, std::optional<Error> &error) : rest(bytes), error(error) {}

  bool next(Field &field) {
    if (rest.empty() || error)
      return false;
    const uint64_t tag = varint();
    if (error)
      return false;
    if (tag >> 3 == 0 || tag >> 3 > kMaxField)
      return fail("payload-wire", "a field has the number " + std::to_string(tag >> 3));
    field.number = static_cast<uint32_t>(tag >> 3);
    field.wire = static_cast<WireType>(tag & 7);
    field.bytes = {};
    switch (field.wire) {
    case WireType::Varint:
      field.value = varint();
      return !error;
    case WireType::Fixed64:
      return fixed(8, field.value);
    case WireType::Fixed32:
      return fixed(4, field.value);
    case WireType::Bytes:
      return take(varint(), field.bytes);
    }
    return fail("payload-wire", "field " + std::to_string(field.number) + " has the wire type " +
                                    std::to_string(tag & 7) + ", which is not used here");
  }

  // The value of a field with the expected encoding; zero or empty, and an error, where it has another.

  std::string_view text(const Field &field) {
    wants(field, WireType::Bytes);
    return field.bytes;
  }
  uint64_t number(const Field &field) {
    wants(field, WireType::Varint);
    return field.value;
  }
  uint32_t small(const Field &field, const char *what, uint32_t limit = std::numeric_limits<int32_t>::max()) {
    const uint64_t value = number(field);
    if (value > limit)
      fail("payload-value",
           std::string(what) + " is " + std::to_string(value) + "; at most " + std::to_string(limit) + " is possible");
    return static_cast<uint32_t>(value);
  }
  uint64_t fixedBits(const Field &field, WireType wire) {
    wants(field, wire);
    return field.value;
  }
  Reader inside(const Field &field) { return {text(field), error}; }
  bool fail(const char *code, std::string text) {
    if (!error)
      error = Error{code, "the payload cannot be read: " + std::move(text)};
    return false;
  }

private:
  static constexpr uint64_t kMaxField = (uint64_t{1} << 29) - 1;

  bool truncated() { return fail("payload-truncated", "it ends in the middle of a field"); }
  uint64_t varint() {
    uint64_t value = 0;
    for (size_t i = 0; i < 10; ++i) {
      if (i == rest.size()) {
        truncated();
        return 0;
      }
      const auto byte = static_cast<unsigned char>(rest[i]);
      value |= uint64_t{byte & 127u} << (7 * i);
      if (byte < 128) {
        rest.remove_prefix(i + 1);
        return value;
      }
    }
    fail("payload-wire", "a number has more than ten bytes");
    return 0;
  }
  bool take(uint64_t count, std::string_view &bytes) {
    if (error)
      return false;
    if (count > rest.size())
      return truncated();
    bytes = rest.substr(0, count);
    rest.remove_prefix(count);
    return true;
  }
  bool fixed(size_t count, uint64_t &value) {
    std::string_view bytes;
    if (!take(count, bytes))
      return false;
    value = 0;
    for (size_t i = 0; i < count; ++i)
      value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return true;
  }
  void wants(const Field &field, WireType wire) {
    if (field.wire != wire)
      fail("payload-wire", "field " + std::to_string(field.number) + " has the wire type " +
                               std::to_string(static_cast<uint32_t>(field.wire)) + "; expected " +
                               std::to_string(static_cast<uint32_t>(wire)));
  }

  std::string_view rest;
  std::optional<Error> &error;
};

} // namespace

//--- Parameters --------------------------------------------------------------------------------

static std::vector<uint64_t> readShape(Reader reader) {
  std::vector<uint64_t> shape;
  for (Field field; reader.next(field);)
    if (field.number == field::shape::Extent)
      shape.push_back(reader.number(field));
  return shape;
}

static ArrayParameter readArray(Reader reader) {
  ArrayParameter array;
  for (Field field; reader.next(field);)
    switch (field.number) {
    case field::array::BytesToZero:
      array.bytesToZero = reader.number(field);
      break;
    case field::array::Divisibility:
      array.divisibility = reader.number(field);
      break;
    case field::array::Shape:
      array.shape = readShape(reader.inside(field));
      break;
    case field::array::Buffer:
      array.buffer = reader.small(field, "the number of a buffer");
      break;
    }
  return array;
}

static ScalarParameter readScalar(Reader &reader, const Field &field, artifact::ElementType type) {
  const artifact::ElementInfo &info = artifact::infoOf(type);
  if (info.isFloat())
    return {type, reader.fixedBits(field, info.bits == 32 ? WireType::Fixed32 : WireType::Fixed64)};
  if (info.kind == artifact::ElementKind::Bool)
    return {type, reader.small(field, "a bool", 1)};
  if (info.bits == 64)
    return {type, reader.number(field)};
  if (info.kind == artifact::ElementKind::Unsigned)
    return {type, reader.small(field, "a u32", std::numeric_limits<uint32_t>::max())};
  const auto value = static_cast<int64_t>(reader.number(field));
  if (value != static_cast<int32_t>(value))
    reader.fail("payload-value", "an i32 is " + std::to_string(value));
  return {type, static_cast<uint32_t>(value)};
}

/// The last of several values counts, as in every protocol buffer.
static Parameter readParameter(Reader reader) {
  std::optional<Parameter> parameter;
  for (Field field; reader.next(field);) {
    const auto scalar = std::ranges::find(field::kScalars, field.number, [](auto &each) { return each.first; });
    if (field.number == field::parameter::Array)
      parameter = readArray(reader.inside(field));
    else if (scalar != std::end(field::kScalars))
      parameter = readScalar(reader, field, scalar->second);
    else // such as a tensor map of jaxlib's: a launch without it would pass the wrong arguments
      reader.fail("payload-value", "a parameter is of kind " + std::to_string(field.number) +
                                       ", which is not known here; it may come from a newer version");
  }
  if (!parameter)
    reader.fail("payload-value", "a parameter has no value");
  return parameter.value_or(ArrayParameter{});
}

//--- Kernels and calls -------------------------------------------------------------------------

static void readCluster(Reader &reader, const Field &field, KernelCode &kernel) {
  if (!kernel.cluster)
    kernel.cluster = {0, 0, 0};
  (*kernel.cluster)[field.number - field::kernel::ClusterX] = reader.small(field, "an extent of a cluster");
}

static void readScratch(Reader &reader, const Field &field, KernelCode &kernel) {
  if (!kernel.scratch)
    kernel.scratch.emplace();
  (field.number == field::kernel::ScratchBytes ? kernel.scratch->bytes : kernel.scratch->align) = reader.number(field);
}

static KernelCode readKernel(Reader reader) {
  KernelCode kernel;
  for (Field field; reader.next(field);)
    switch (field.number) {
    case field::kernel::Name:
      kernel.name = reader.text(field);
      break;
    case field::kernel::NumWarps:
      kernel.numWarps = reader.small(field, "the number of warps");
      break;
    case field::kernel::SharedBytes:
      kernel.sharedBytes = reader.small(field, "the size of shared memory");
      break;
    case field::kernel::Ptx:
      kernel.ptx = reader.text(field);
      break;
    case field::kernel::Ttir:
      kernel.ttir = reader.text(field);
      break;
    case field::kernel::ComputeCapability:
      kernel.computeCapability = reader.small(field, "the compute capability");
      break;
    case field::kernel::ClusterX:
    case field::kernel::ClusterY:
    case field::kernel::ClusterZ:
      readCluster(reader, field, kernel);
      break;
    case field::kernel::NumCtas:
      kernel.numCtas = reader.small(field, "the number of blocks in a cluster");
      break;
    case field::kernel::ScratchBytes:
    case field::kernel::ScratchAlign:
      readScratch(reader, field, kernel);
      break;
    case field::kernel::Artifact:
      kernel.artifact = reader.text(field);
      break;
    }
  if (kernel.cluster == std::array<uint32_t, 3>{}) // zeros and absent fields are the same in this protocol
    kernel.cluster.reset();
  return kernel;
}

static KernelCall readCall(Reader reader) {
  KernelCall call;
  bool hasKernel = false;
  for (Field field; reader.next(field);)
    switch (field.number) {
    case field::call::Kernel:
      call.kernel = readKernel(reader.inside(field));
      hasKernel = true;
      break;
    case field::call::GridX:
    case field::call::GridY:
    case field::call::GridZ:
      call.grid[field.number - field::call::GridX] =
          reader.small(field, "an extent of the grid", std::numeric_limits<uint32_t>::max());
      break;
    case field::call::Parameter:
      call.parameters.push_back(readParameter(reader.inside(field)));
      break;
    case field::call::MayWriteOperands:
      call.mayWriteOperands = reader.number(field) != 0;
      break;
    }
  if (!hasKernel)
    reader.fail("payload-empty", "a call has no kernel");
  return call;
}

//--- Autotuned calls ---------------------------------------------------------------------------

static AutotunedCall::Config readConfig(Reader reader) {
  AutotunedCall::Config config;
  for (Field field; reader.next(field);)
    if (field.number == field::config::Call)
      config.call = readCall(reader.inside(field));
    else if (field.number == field::config::Description)
      config.description = reader.text(field);
  return config;
}

static AutotunedCall::Alias readAlias(Reader reader) {
  AutotunedCall::Alias alias;
  for (Field field; reader.next(field);)
    switch (field.number) {
    case field::alias::Operand:
      alias.operand = reader.number(field);
      break;
    case field::alias::Result:
      alias.result = reader.number(field);
      break;
    case field::alias::Bytes:
      alias.bytes = reader.number(field);
      break;
    }
  return alias;
}

static AutotunedCall readAutotuned(Reader reader) {
  AutotunedCall call;
  for (Field field; reader.next(field);)
    switch (field.number) {
    case field::autotuned::Name:
      call.name = reader.text(field);
      break;
    case field::autotuned::Config:
      call.configs.push_back(readConfig(reader.inside(field)));
      break;
    case field::autotuned::Alias:
      call.aliases.push_back(readAlias(reader.inside(field)));
      break;
    }
  if (call.configs.empty())
    reader.fail("payload-empty", "an autotuned call has no configuration");
  return call;
}

Expected<Payload> readMessage(std::string_view bytes) {
  std::optional<Error> error;
  Reader reader(bytes, error);
  Payload payload;
  bool hasCall = false;
  for (Field field; reader.next(field);)
    switch (field.number) {
    case field::any::KernelCall:
      payload.call = readCall(reader.inside(field));
      hasCall = true;
      break;
    case field::any::AutotunedCall:
      payload.call = readAutotuned(reader.inside(field));
      hasCall = true;
      break;
    case field::any::Metadata:
      payload.metadata = reader.text(field);
      break;
    case field::any::Name:
      payload.name = reader.text(field);
      break;
    }
  if (!hasCall)
    reader.fail("payload-empty", "it holds no kernel call");
  if (error)
    return *std::move(error);
  return payload;
}

} // namespace nereid::xla
