// A compiled kernel and all that a launcher must know of it.
// SPDX-License-Identifier: MIT
//
// The artifact is the only thing that passes from the compiler to the runtime,
// and a cache file, an ahead-of-time bundle and a kernel in memory all hold
// exactly these fields.
#pragma once

#include "artifact/Expected.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::artifact {

/// Raised whenever a field changes its meaning; older files are then misses.
inline constexpr uint32_t kFormatVersion = 2;

/// What the code was made for, with every name resolved (never "native").
struct Target {
  std::string backend;  ///< "cpu", "cuda" or "hip"
  std::string arch;     ///< cpu: an LLVM CPU name; cuda: "90"; hip: "gfx942"
  std::string features; ///< cpu: LLVM feature string, sorted; else empty
  uint32_t warpSize = 0;

  bool operator==(const Target &) const = default;
};

/// How a kernel is called. `Plain`: the parameters in order, then the global
/// and the profile scratch pointer; the grid as given. `Own`: only our
/// launcher knows how (tensor maps, persistence, several programs a block).
enum class Abi : uint8_t { Plain, Own };

enum class ParameterKind : uint8_t { Pointer, Int, Float, Bool, Descriptor };

/// One run-time parameter at its place in the packed argument block.
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::Pointer;
  std::string type; ///< as a signature spells it: "*fp32", "i64", "fp32"
  uint32_t offset = 0;
  uint32_t size = 0;
  uint32_t position = 0; ///< among all parameters of the source, constants counted
  bool isWritten = true; ///< of a pointer or descriptor: whether the code may write the memory behind it

  bool operator==(const Parameter &) const = default;
};

enum class PreconditionKind : uint8_t {
  Divisible, ///< the integer, or the address, is a multiple of `value`
  Equals,    ///< the integer is `value`
  Within,    ///< the memory behind the pointer spans fewer than `value` bytes
};

/// What the code takes for granted of one argument: the launcher must have
/// established it before it may choose this artifact.
struct Precondition {
  PreconditionKind kind = PreconditionKind::Divisible;
  uint32_t parameter = 0; ///< index into `Artifact::parameters`
  uint64_t value = 0;

  bool operator==(const Precondition &) const = default;
};

/// Where a piece of the binary comes from, in ascending code offset.
struct SourceMapEntry {
  uint64_t codeOffset = 0;
  uint32_t file = 0; ///< index into `SourceMap::files`
  uint32_t line = 0;
  uint32_t column = 0;

  bool operator==(const SourceMapEntry &) const = default;
};

struct SourceMap {
  std::vector<std::string> files;
  std::vector<SourceMapEntry> entries;

  bool operator==(const SourceMap &) const = default;
};

/// One printable or binary stage of the compilation: "ttir", "llir", "ptx".
struct Stage {
  std::string name;
  std::string data;

  bool operator==(const Stage &) const = default;
};

using Dim3 = std::array<uint32_t, 3>;

struct Artifact {
  std::string name;      ///< the kernel as the user calls it
  std::string entry;     ///< the symbol in the binary
  std::string hash;      ///< lower-case hex; the key that names this compilation
  std::string signature; ///< as the command line's --signature

  Target target;
  Abi abi = Abi::Plain;
  std::vector<Parameter> parameters;
  std::vector<Precondition> preconditions;
  /// Name -> JSON text of the value ("4", "\"tf32\"", "true").
  std::map<std::string, std::string> options;

  Dim3 blockDims{1, 1, 1};
  Dim3 clusterDims{1, 1, 1};
  bool cooperative = false;
  bool programmaticLaunch = false; ///< PDL

  uint64_t sharedBytes = 0;
  uint64_t globalScratchBytes = 0; ///< for each program
  uint32_t globalScratchAlign = 1;
  uint64_t profileScratchBytes = 0; ///< for each program
  uint32_t profileScratchAlign = 1;
  uint64_t arenaBytes = 0; ///< for each thread that runs programs (cpu)
  uint32_t arenaAlign = 64;

  uint32_t registers = 0;
  uint32_t spills = 0;

  std::string tool; ///< what made the binary: "lld", "ptxas"
  std::string toolVersion;
  SourceMap sourceMap;
  std::string binary;
  std::vector<Stage> stages;

  bool operator==(const Artifact &) const = default;

  /// The bytes of the stage of that name; null when it is not kept.
  const std::string *findStage(std::string_view stage) const;
};

/// Size of the argument block of the plain ABI: the parameters, then the two
/// scratch pointers at the next multiple of 8.
uint64_t packedBytes(const Artifact &artifact);

/// Where the two scratch pointers begin in that block.
uint64_t scratchOffset(const Artifact &artifact);

/// Writes the one checksummed file form (docs in Serialize.cpp). Text fields
/// are UTF-8; what is not is replaced by U+FFFD.
std::string serialize(const Artifact &artifact);

/// Reads it back. Any bytes may be given: what is not a whole, unharmed file
/// of this format version is an error, with one of the codes
/// `artifact-truncated`, `artifact-magic`, `artifact-version`,
/// `artifact-checksum`, `artifact-header`, `artifact-blob`.
Expected<Artifact> deserialize(std::span<const char> bytes);

} // namespace nereid::artifact
