// Plain properties of each target, for the code that is not the target's own: one record per target.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace nereid::artifact {

/// Alignment of every thread's arena and of each tile in it (cpu); no vector register is wider.
inline constexpr uint32_t kArenaAlign = 64;

struct TargetInfo {
  std::string_view name;  ///< in `Target::backend`, and in users' words
  uint32_t warpSize = 32; ///< of architectures that name no other (`warpSizeOf`)

  // --- the language ---
  std::string_view dotPrecision = "tf32"; ///< of float32 operands whose dot names no precision
  std::string_view assembly = {};         ///< the language of inline assembly where it is not the machine's: "ptx"
  /// The architecture whose fp8 dots accumulate imprecisely where the user sets no limit; empty: none.
  std::string_view impreciseFp8Arch = {};
  bool takesAnyExtent = false; ///< tiles' extents need not be powers of two
  bool isHost = false;         ///< programs run on the host's processors: no threads share a tile, no stream
  bool hasSanitizers = false;

  // --- what is compiled ---
  std::string_view binaryStage = {};       ///< the stage that a device loads
  std::string_view assembledByDriver = {}; ///< the stage that the driver assembles where no tool does
  bool usesCudaTools = false;              ///< ptxas or nvJitLink makes the binary
  bool namesFeatures = false;              ///< users write features after the architecture: `cuda:90+tma`
};

inline constexpr TargetInfo kCpu = {.name = "cpu",
                                    .dotPrecision = "ieee",
                                    .takesAnyExtent = true,
                                    .isHost = true,
                                    .hasSanitizers = true,
                                    .binaryStage = "so"};

inline constexpr TargetInfo kCuda = {.name = "cuda",
                                     .assembly = "ptx",
                                     .impreciseFp8Arch = "90",
                                     .takesAnyExtent = true,
                                     .binaryStage = "cubin",
                                     .assembledByDriver = "ptx",
                                     .usesCudaTools = true,
                                     .namesFeatures = true};

/// A feature of `cuda` and `hip` targets: the simulated GPU runs the code, which is PTX.
inline constexpr std::string_view kSimulated = "+sim";
inline constexpr std::string_view kSimulatedStage = "ptx";

inline constexpr TargetInfo kHip = {.name = "hip",
                                    .warpSize = 64,
                                    .dotPrecision = "ieee",
                                    .assembly = "amdgcn",
                                    .takesAnyExtent = true,
                                    .binaryStage = "hsaco",
                                    .namesFeatures = true};

/// All records.
std::span<const TargetInfo *const> allTargets();

/// The record of that name; for any other name one without properties.
const TargetInfo &targetInfo(std::string_view name);

/// Threads of a warp on an architecture of the target.
uint32_t warpSizeOf(std::string_view target, std::string_view arch);

} // namespace nereid::artifact
