// The tools that make machine code of PTX, one function each.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/nvidia/PtxAssembler.h"

#include "llvm/ADT/ArrayRef.h"

namespace nereid::nvidia {

enum class ToolOutcome : uint8_t {
  Done,
  Refused, ///< the PTX is wrong; the log says why
  Absent,  ///< the tool cannot be used
  Late,    ///< the time limit came first, or nobody waits any more
};

/// Whether the tool is older than the generation or this version of PTX: another one may do.
bool isTooOld(llvm::StringRef log);

ToolOutcome runNvJitLink(llvm::StringRef ptx, const Arch &arch, llvm::ArrayRef<std::string> options, const Tools &tools,
                         Assembled &result, std::string &log);
ToolOutcome runPtxas(llvm::StringRef ptx, const Arch &arch, llvm::ArrayRef<std::string> options, const Tools &tools,
                     Assembled &result, std::string &log);

} // namespace nereid::nvidia
