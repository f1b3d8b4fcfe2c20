// How arguments become a kernel's argument block: the one place where they are checked and converted.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "jit/Signature.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::jit {

/// One argument of a launch, as far as the argument block needs it.
struct ArgumentLeaf {
  enum class Kind : uint8_t { None, Bool, Int, UInt, Float, Address };
  Kind kind = Kind::None;
  bool isReadOnly = false; ///< of an address: whoever gave it forbids writing there
  union {
    int64_t integer;
    uint64_t bits; ///< of an unsigned integer or an address
    double number;
  };
  ArgumentLeaf() : bits(0) {}
};

enum class PackResult : uint8_t { Packed, WrongKind, OutOfRange, ReadOnly };

/// Where one parameter goes, and in which form.
struct PackedParam {
  uint32_t position; ///< among all arguments, constants counted
  uint32_t offset;
  uint32_t size;
  artifact::ParameterKind kind;
  ScalarType type; ///< of the scalar, or behind the pointer
  bool isWritten;  ///< whether the kernel may write behind the pointer
  uint32_t part;   ///< among the parameters that a descriptor is; else 0
  /// From the argument to the value inside of it, index by index; empty where the argument itself is the value.
  std::vector<uint32_t> path;
  uint32_t leaf = 0; ///< number of that value among the run-time values of the argument
};

/// One per parameter of the artifact, in order.
std::vector<PackedParam> packedParamsOf(const artifact::Artifact &artifact);

/// Writes the argument into the block, in the parameter's own type.
PackResult pack(const PackedParam &param, const ArgumentLeaf &leaf, char *block);

/// What to say of the argument of parameter `index` that was not packed; `given` is the argument as its caller
/// writes it, or, of memory that is read-only, its type.
std::string packProblem(PackResult result, const artifact::Artifact &artifact, size_t index, const std::string &given);

} // namespace nereid::jit
