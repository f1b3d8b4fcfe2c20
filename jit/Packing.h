// Packs arguments into a kernel's argument block; all checks and conversions of arguments are here.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "jit/Signature.h"
#include "runtime/MemoryExtent.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace nereid::jit {

/// One argument of a launch, reduced to what the argument block needs.
struct ArgumentLeaf {
  enum class Kind : uint8_t { None, Bool, Int, UInt, Float, Address };
  Kind kind = Kind::None;
  bool isReadOnly = false; ///< of an address: its owner forbids writes
  union {
    int64_t integer;
    uint64_t bits; ///< of an unsigned integer or an address
    double number;
  };
  ArgumentLeaf() : bits(0) {}
};

enum class PackResult : uint8_t { Packed, WrongKind, OutOfRange, ReadOnly };

/// The offset and form of one parameter.
struct PackedParam {
  uint32_t position; ///< among all arguments, including constants
  uint32_t offset;
  uint32_t size;
  artifact::ParameterKind kind;
  ScalarType type; ///< of the scalar, or of what the pointer points to
  bool isWritten;  ///< whether the kernel may write through the pointer
  uint32_t part;   ///< index among the parameters of a descriptor; else 0
  /// The path from the argument to the value inside of it, index by index; empty where the argument itself is the
  /// value.
  std::vector<uint32_t> path;
  uint32_t leaf = 0; ///< index of that value among the run-time values of the argument
};

/// The parameters of the artifact, in order.
std::vector<PackedParam> packedParamsOf(const artifact::Artifact &artifact);

PackResult packOther(const PackedParam &param, const ArgumentLeaf &leaf, char *block);
/// Writes the argument into the block, in the parameter's own type. Inline for what most arguments are: a launch packs
/// each of its own.
inline PackResult pack(const PackedParam &param, const ArgumentLeaf &leaf, char *block) {
  using Kind = ArgumentLeaf::Kind;
  if (param.kind == artifact::ParameterKind::Pointer && leaf.kind == Kind::Address &&
      !(leaf.isReadOnly && param.isWritten)) {
    std::memcpy(block + param.offset, &leaf.bits, sizeof leaf.bits);
    return PackResult::Packed;
  }
  const auto narrow = static_cast<int32_t>(leaf.integer);
  if (leaf.kind == Kind::Int && param.type == ScalarType::Int32 && param.kind == artifact::ParameterKind::Int &&
      narrow == leaf.integer) {
    std::memcpy(block + param.offset, &narrow, sizeof narrow);
    return PackResult::Packed;
  }
  return packOther(param, leaf, block);
}

/// The packed arguments with the extent of each parameter's memory appended.
std::vector<char> withExtents(std::span<const char> packed, std::span<const runtime::MemoryExtent> extents);

/// The message for the argument of parameter `index` that was not packed; `shown` is the argument as its caller writes
/// it or, for read-only memory, its type.
std::string packProblem(PackResult result, const artifact::Artifact &artifact, size_t index, const std::string &shown);

} // namespace nereid::jit
