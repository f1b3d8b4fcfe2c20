// Assembles PTX to a cubin by the first tool available: nvJitLink in process, or ptxas.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/nvidia/arch/Archs.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace nereid::nvidia {

/// Paths, found by the caller; empty where a tool is missing.
struct Tools {
  std::string ptxas;
  std::string nvJitLink;     ///< the shared library
  uint32_t secondsLimit = 0; ///< per run of a tool; 0: none

  bool operator==(const Tools &) const = default;
};

struct Assembled {
  std::string cubin;       ///< empty: no tool is available, the driver compiles the PTX
  std::string tool;        ///< "nvjitlink", "ptxas" or "driver"
  std::string toolVersion; ///< "13.0"
  uint32_t registers = 0;  ///< per thread
  uint32_t spillBytes = 0; ///< stored by spills
  uint32_t stackBytes = 0;
  std::string serialisationNote; ///< the tool's note that it serialises wgmma instructions, if any
};

struct AssemblyError {
  std::string message;   ///< the tool's first error; empty where it refuses nothing
  unsigned line = 0;     ///< of the PTX; 0 where the tool names none
  bool isRefusal = true; ///< the PTX is rejected; else no tool supports the options
  bool isLate = false;   ///< the tool was killed at its time limit
};

/// The tool to be tried first.
enum class FirstTool : uint8_t {
  NvJitLink, ///< saves a process
  Ptxas, ///< compiles whole programs: without a hint for occupancy it aims at few registers, where nvJitLink takes all
};

/// Assembles PTX; nothing, with `error` set, where a tool rejects the text or `options`. These are ptxas options, which
/// the driver does not take. With options, with setmaxnreg in the text, and in processes that have not initialised CUDA
/// but could, ptxas is always the first tool.
std::optional<Assembled> assemble(llvm::StringRef ptx, const Arch &arch, const Tools &tools, llvm::StringRef options,
                                  AssemblyError &error, FirstTool first = FirstTool::NvJitLink);

/// Parses a tool's output for a module: resources and errors.
void readResources(llvm::StringRef log, Assembled &result);
AssemblyError readError(llvm::StringRef log);

} // namespace nereid::nvidia
