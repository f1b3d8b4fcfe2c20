// A compiled kernel with everything that a launcher needs.
// SPDX-License-Identifier: MIT
//
// Only the artifact passes from the compiler to the runtime. A cache file, an ahead-of-time bundle and a kernel in
// memory all hold exactly these fields.
#pragma once

#include "artifact/Expected.h"
#include "artifact/TargetInfo.h"
#include "artifact/TensorMapRecipe.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::artifact {

/// Raised whenever a field changes its meaning; older files are then cache misses.
inline constexpr uint32_t kFormatVersion = 4;

/// The target of the code, with every name resolved (never "native").
struct Target {
  std::string backend;  ///< the name of a TargetInfo
  std::string arch;     ///< cpu: an LLVM CPU name; cuda: "90"; hip: "gfx942"
  std::string features; ///< cpu: LLVM feature string, sorted; else empty
  uint32_t warpSize = 0;

  bool operator==(const Target &) const = default;
};

/// How a kernel is called. `Plain`: the parameters in order, then the global and the profile scratch pointer; the grid
/// as given. `Own`: only Nereid's launcher can call it. Its parameters are followed by one tensor map for each recipe
/// (128 bytes, aligned to 64); then, where it is persistent, by the extents of the grid as three u32 and a pointer to
/// two u32; then by the two scratch pointers.
enum class Abi : uint8_t { Plain, Own };

enum class ParameterKind : uint8_t { Pointer, Int, Float, Bool, Descriptor };

/// One run-time parameter with its offset in the packed argument block.
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::Pointer;
  std::string type; ///< as in a signature: "*fp32", "i64", "fp32"
  uint32_t offset = 0;
  uint32_t size = 0;
  uint32_t position = 0; ///< among all parameters of the source, including constants
  bool isWritten = true; ///< of a pointer or descriptor: whether the code may write the memory it points to

  bool operator==(const Parameter &) const = default;
};

enum class PreconditionKind : uint8_t {
  Divisible, ///< the integer, or the address, is a multiple of `value`
  Equals,    ///< the integer is `value`
  Within,    ///< the memory that the pointer points to spans fewer than `value` bytes
};

/// A precondition of the code on one argument: the launcher must check it before it may choose this artifact.
struct Precondition {
  PreconditionKind kind = PreconditionKind::Divisible;
  uint32_t parameter = 0; ///< index into `Artifact::parameters`
  uint64_t value = 0;

  bool operator==(const Precondition &) const = default;
};

/// The source line of a range of the binary, in ascending code offset.
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
  std::string name;      ///< the kernel's name in the source
  std::string entry;     ///< the symbol in the binary
  std::string hash;      ///< lower-case hex; the key that names this compilation
  std::string signature; ///< as the command line's --signature

  Target target;
  Abi abi = Abi::Plain;
  std::vector<Parameter> parameters;
  std::vector<Precondition> preconditions;
  std::vector<TensorMapRecipe> tensorMaps;
  /// Each must have a value of at least 0; otherwise the launcher must not use this artifact.
  std::vector<LaunchExpression> conditions;
  /// The launcher starts at most as many CTAs as the device runs at once, in a grid of one dimension. They share the
  /// programs by two counters in global memory, which are zero before the kernel and must be zero after it.
  bool persistent = false;
  /// Name -> JSON text of the value ("4", "\"tf32\"", "true").
  std::map<std::string, std::string> options;

  Dim3 blockDims{1, 1, 1};
  Dim3 clusterDims{1, 1, 1};
  bool cooperative = false;
  bool programmaticLaunch = false; ///< programmatic dependent launch

  uint64_t sharedBytes = 0;
  uint64_t globalScratchBytes = 0; ///< for each program
  uint32_t globalScratchAlign = 1;
  uint64_t profileScratchBytes = 0; ///< for each program
  uint32_t profileScratchAlign = 1;
  uint64_t arenaBytes = 0; ///< for each thread that runs programs (cpu)
  uint32_t arenaAlign = kArenaAlign;

  uint32_t registers = 0;
  uint32_t spills = 0;

  std::string tool; ///< the tool that produced the binary: "lld", "ptxas"
  std::string toolVersion;
  SourceMap sourceMap;
  std::string binary;
  std::vector<Stage> stages;

  bool operator==(const Artifact &) const = default;

  /// The bytes of the stage of that name; null where it is not kept.
  const std::string *findStage(std::string_view stage) const;
};

/// Whether only Nereid's launcher can call the kernel: its ABI must be `Own`.
bool needsOwnLauncher(const Artifact &artifact);

/// Indices of the parameters that tensor maps and conditions read, ascending.
std::vector<uint32_t> launchParameters(const Artifact &artifact);

/// Size of a launch's argument block in bytes, the same for both ABIs: the parameters, then the two scratch pointers at
/// the next multiple of 8.
uint64_t packedBytes(const Artifact &artifact);

/// Offset of the two scratch pointers in that block.
uint64_t scratchOffset(const Artifact &artifact);

/// Serializes to the checksummed file form (Format.h). Text fields are UTF-8; invalid bytes are replaced by U+FFFD.
std::string serialize(const Artifact &artifact);

/// Deserializes any bytes: whatever is not a complete, undamaged file of this format version is an error with one of
/// the codes `artifact-truncated`, `artifact-magic`, `artifact-version`, `artifact-checksum`, `artifact-header`,
/// `artifact-blob`.
Expected<Artifact> deserialize(std::span<const char> bytes);

} // namespace nereid::artifact
