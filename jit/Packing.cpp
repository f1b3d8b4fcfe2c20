// Writes one argument into an argument block, in the parameter's own type.
// SPDX-License-Identifier: MIT
#include "jit/Packing.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace nereid;
using namespace nereid::jit;

static std::string_view scalarText(std::string_view type) {
  if (type.starts_with("*"))
    type.remove_prefix(1);
  if (type.starts_with("k"))
    type.remove_prefix(1);
  return type;
}

namespace {
/// A run-time value inside of an argument: its path, and the number of its parameters.
struct InnerValue {
  std::vector<uint32_t> path;
  size_t parameters;
};
} // namespace

/// Base, extents and strides in 64 bits, two flags, extents and strides once more.
static size_t descriptorParameters(const std::string &block) {
  const auto extents = std::find(block.begin(), block.end(), ']'); // a layout may follow
  const auto rank = static_cast<size_t>(std::count(block.begin(), extents, ',')) + 1;
  return 4 * rank + 3;
}

static void collectValues(const ArgumentSpec &argument, std::vector<uint32_t> &path, std::vector<InnerValue> &values) {
  if (argument.kind == ArgumentKind::Constant)
    return;
  if (argument.kind != ArgumentKind::Tuple) {
    values.push_back({path, argument.kind == ArgumentKind::Descriptor ? descriptorParameters(argument.text) : 1});
    return;
  }
  for (uint32_t index = 0; index < argument.elements.size(); ++index) {
    path.push_back(index);
    collectValues(argument.elements[index], path, values);
    path.pop_back();
  }
}

/// Sets the path of each of the `count` parameters of a tuple.
static void bindTupleElements(const ArgumentSpec &tuple, PackedParam *params, size_t count) {
  std::vector<uint32_t> path;
  std::vector<InnerValue> values;
  collectValues(tuple, path, values);
  size_t next = 0;
  for (uint32_t leaf = 0; leaf < values.size(); ++leaf)
    for (uint32_t part = 0; part < values[leaf].parameters && next < count; ++part, ++next) {
      params[next].path = values[leaf].path;
      params[next].leaf = leaf;
      params[next].part = part;
    }
}

std::vector<PackedParam> jit::packedParamsOf(const artifact::Artifact &artifact) {
  std::vector<PackedParam> params;
  for (const artifact::Parameter &parameter : artifact.parameters) {
    const auto type = artifact::elementOfSignature(scalarText(parameter.type));
    const bool isFirst = params.empty() || params.back().position != parameter.position;
    params.push_back({parameter.position,
                      parameter.offset,
                      parameter.size,
                      parameter.kind,
                      type.value_or(ScalarType::Int8),
                      parameter.isWritten,
                      isFirst ? 0 : params.back().part + 1,
                      {}});
  }
  const auto signature = Signature::parse(artifact.signature);
  const auto *known = std::get_if<Signature>(&signature);
  for (size_t first = 0, end = 0; known && first < params.size(); first = end) {
    while (end < params.size() && params[end].position == params[first].position)
      ++end;
    const uint32_t position = params[first].position;
    if (position < known->arguments.size() && known->arguments[position].kind == ArgumentKind::Tuple)
      bindTupleElements(known->arguments[position], &params[first], end - first);
  }
  return params;
}

/// The nearest 16-bit float, ties to even, with that many bits for exponent and fraction.
static uint16_t roundToFloat16(double number, int exponentBits, int fractionBits) {
  const int bias = (1 << (exponentBits - 1)) - 1;
  const auto sign = static_cast<uint16_t>(std::signbit(number) << 15);
  const auto infinity = static_cast<uint16_t>(((1 << exponentBits) - 1) << fractionBits);
  if (std::isnan(number))
    return sign | infinity | static_cast<uint16_t>(1 << (fractionBits - 1));
  if (std::isinf(number))
    return sign | infinity;
  if (number == 0)
    return sign;
  // The exponent of the last place; below the smallest normal number it stays the same.
  const int lastExponent = std::max(std::ilogb(number), 1 - bias) - fractionBits;
  const auto digits = static_cast<uint64_t>(std::nearbyint(std::ldexp(std::fabs(number), -lastExponent)));
  // `places` has the hidden bit, or is subnormal; a carry out of it raises the exponent by itself.
  const uint64_t bits = digits + (static_cast<uint64_t>(lastExponent + fractionBits + bias - 1) << fractionBits);
  return sign | static_cast<uint16_t>(std::min<uint64_t>(bits, infinity));
}

static PackResult packFloat(const PackedParam &param, const ArgumentLeaf &leaf, char *at) {
  double number = 0;
  switch (leaf.kind) {
  case ArgumentLeaf::Kind::Float:
    number = leaf.number;
    break;
  case ArgumentLeaf::Kind::Int:
  case ArgumentLeaf::Kind::Bool:
    number = static_cast<double>(leaf.integer);
    break;
  case ArgumentLeaf::Kind::UInt:
    number = static_cast<double>(leaf.bits);
    break;
  case ArgumentLeaf::Kind::None:
  case ArgumentLeaf::Kind::Address:
    return PackResult::WrongKind;
  }
  if (param.type == ScalarType::Float32) {
    const auto single = static_cast<float>(number);
    std::memcpy(at, &single, sizeof single);
  } else if (param.type == ScalarType::Float64) {
    std::memcpy(at, &number, sizeof number);
  } else if (param.type == ScalarType::Float16 || param.type == ScalarType::BFloat16) {
    const artifact::ElementInfo &info = artifact::infoOf(param.type);
    const uint16_t bits = roundToFloat16(number, info.exponentBits, info.mantissaBits);
    std::memcpy(at, &bits, sizeof bits);
  } else {
    return PackResult::WrongKind;
  }
  return PackResult::Packed;
}

static PackResult packInteger(const PackedParam &param, const ArgumentLeaf &leaf, char *at) {
  if (leaf.kind != ArgumentLeaf::Kind::Int && leaf.kind != ArgumentLeaf::Kind::UInt &&
      leaf.kind != ArgumentLeaf::Kind::Bool)
    return PackResult::WrongKind;
  const unsigned width = param.size * 8;
  const bool wantsUnsigned = artifact::infoOf(param.type).kind == artifact::ElementKind::Unsigned;
  const bool isNegative = leaf.kind == ArgumentLeaf::Kind::Int && leaf.integer < 0;
  if (isNegative) {
    if (wantsUnsigned || (width < 64 && leaf.integer < -(int64_t{1} << (width - 1))))
      return PackResult::OutOfRange;
  } else {
    const unsigned valueBits = wantsUnsigned ? width : width - 1;
    if (valueBits < 64 && leaf.bits >> valueBits)
      return PackResult::OutOfRange;
  }
  std::memcpy(at, &leaf.bits, param.size); // little-endian, as all targets are
  return PackResult::Packed;
}

PackResult jit::packOther(const PackedParam &param, const ArgumentLeaf &leaf, char *block) {
  char *at = block + param.offset;
  switch (param.kind) {
  case artifact::ParameterKind::Pointer:
    if (leaf.kind == ArgumentLeaf::Kind::Float || leaf.kind == ArgumentLeaf::Kind::Bool)
      return PackResult::WrongKind;
    if (leaf.isReadOnly && param.isWritten)
      return PackResult::ReadOnly;
    std::memcpy(at, &leaf.bits, sizeof leaf.bits); // None is the null pointer
    return PackResult::Packed;
  case artifact::ParameterKind::Int:
    return packInteger(param, leaf, at);
  case artifact::ParameterKind::Bool: {
    if (leaf.kind != ArgumentLeaf::Kind::Bool && leaf.kind != ArgumentLeaf::Kind::Int &&
        leaf.kind != ArgumentLeaf::Kind::UInt)
      return PackResult::WrongKind;
    const uint64_t truth = leaf.bits != 0;
    std::memcpy(at, &truth, param.size);
    return PackResult::Packed;
  }
  case artifact::ParameterKind::Float:
    return packFloat(param, leaf, at);
  case artifact::ParameterKind::Descriptor:
    break;
  }
  return PackResult::WrongKind;
}

std::vector<char> jit::withExtents(std::span<const char> packed, std::span<const runtime::MemoryExtent> extents) {
  std::vector<char> block(packed.size() + extents.size_bytes());
  std::memcpy(block.data(), packed.data(), packed.size());
  std::memcpy(block.data() + packed.size(), extents.data(), extents.size_bytes());
  return block;
}

std::string jit::packProblem(PackResult result, const artifact::Artifact &artifact, size_t index,
                             const std::string &shown) {
  const artifact::Parameter &parameter = artifact.parameters[index];
  const std::string argument = "argument `" + parameter.name + "`";
  switch (result) {
  case PackResult::Packed:
    return "";
  case PackResult::WrongKind:
    return argument + " must be of type `" + parameter.type + "`, got " + shown;
  case PackResult::OutOfRange:
    return argument + " is " + shown + ", which `" + parameter.type + "` cannot hold";
  case PackResult::ReadOnly:
    return "kernel `" + artifact.name + "` writes to " + argument + ", and the `" + shown +
           "` given for it is read-only; pass an array that may be written, such as a copy of it";
  }
  return "";
}
