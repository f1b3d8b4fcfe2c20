// The options of a compilation; each field is part of the cache key.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::support {

/// A file of LLVM bitcode with functions that kernels call by the library's name.
struct ExternLibrary {
  std::string name;
  std::string path;

  bool operator==(const ExternLibrary &) const = default;
};

/// Launch and compile options. Targets ignore those without meaning for them.
struct Options {
  uint32_t numWarps = 4;
  uint32_t numStages = 3;
  uint32_t numCtas = 1;
  uint32_t maxRegisters = 0;                  ///< 0: no limit (`maxnreg`)
  bool enableFpFusion = true;                 ///< multiply and add may become fma
  bool debug = false;                         ///< device asserts are on
  bool sanitizeOverflow = true;               ///< with debug: integer overflow is asserted
  bool cooperativeGrid = false;               ///< `launch_cooperative_grid`
  bool programmaticLaunch = false;            ///< `launch_pdl`
  std::string inputPrecision;                 ///< the default of `dot`; empty: the target's own
  std::vector<std::string> supportedFp8;      ///< fp8 types that kernels may use; empty: all
  uint32_t ptxVersion = 0;                    ///< 80 is 8.0; 0: what the code needs (`ptx_version`)
  std::string ptxOptions;                     ///< further options of ptxas (`ptx_options`)
  std::vector<ExternLibrary> externLibraries; ///< their contents are part of the key, too (`extern_libs`)
  bool ownLauncher = false;                   ///< code that only Nereid's launcher can launch is allowed
  uint32_t sanitize = 0;                      ///< a set of support::Sanitizer, of compiler/support/Sanitizers.h
  uint32_t wavesPerEu = 0;                    ///< waves that a SIMD unit must have room for; 0: the compiler chooses
  uint32_t matrixInstrNonKDim = 0;            ///< 16 or 32: rows and columns of a matrix instruction; 0: any
  uint32_t kpack = 0;                         ///< 1 or 2: matrix instructions whose operands are read at once; 0: any
  bool flushDenormals = false;                ///< float32 denormals may become zero (`allow_flush_denorm`)
  bool useBufferOps = true;                   ///< AMD: accesses may be buffer instructions (`use_buffer_ops`)

  /// AMD: whether pipelined loads go to shared memory without registers (`use_async_copy`); none: the target chooses.
  std::optional<bool> useAsyncCopy;

  bool operator==(const Options &) const = default;
};

} // namespace nereid::support
