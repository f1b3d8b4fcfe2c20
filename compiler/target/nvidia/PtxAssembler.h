// PTX to machine code, by the first tool that is there: nvJitLink in process, ptxas.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/nvidia/Archs.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace nereid::nvidia {

/// Paths, found by the caller; empty where a tool is not there.
struct Tools {
  std::string ptxas;
  std::string nvJitLink;     ///< the shared library
  uint32_t secondsLimit = 0; ///< for each run of either; 0: none

  bool operator==(const Tools &) const = default;
};

struct Assembled {
  std::string cubin;       ///< empty: no tool serves, the driver makes machine code of the PTX
  std::string tool;        ///< "nvjitlink", "ptxas" or "driver"
  std::string toolVersion; ///< "13.0"
  uint32_t registers = 0;  ///< of a thread
  uint32_t spillBytes = 0; ///< stored by spills
  uint32_t stackBytes = 0;
  std::string serialisationNote; ///< the tool's note that it waits between instructions of the matrix unit, if it does
};

struct AssemblyError {
  std::string message;   ///< the tool's first error
  unsigned line = 0;     ///< of the PTX; 0 where the tool names none
  bool isRefusal = true; ///< of the PTX; else there is no tool for the options
  bool isLate = false;   ///< the tool was ended at its time limit
};

/// Nothing, and the error, where a tool refuses the text or `options`, words for ptxas, which the driver cannot be
/// given.
std::optional<Assembled> assemble(llvm::StringRef ptx, const Arch &arch, const Tools &tools, llvm::StringRef options,
                                  AssemblyError &error);

/// What a tool says of a module: resources, and its errors.
void readResources(llvm::StringRef log, Assembled &result);
AssemblyError readError(llvm::StringRef log);

} // namespace nereid::nvidia
