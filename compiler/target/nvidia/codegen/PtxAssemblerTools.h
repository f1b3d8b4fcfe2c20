// Declares the tools that assemble PTX, one function each.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/nvidia/codegen/PtxAssembler.h"

#include "llvm/ADT/ArrayRef.h"

namespace nereid::nvidia {

enum class ToolOutcome : uint8_t {
  Done,
  Refused, ///< the PTX is wrong; see the log
  Absent,  ///< the tool cannot be used
  Late,    ///< at the time limit, or cancelled
};

/// Whether the log tells that the tool is older than the GPU or this PTX version, so that another tool may work.
bool isTooOld(llvm::StringRef log);

/// Whether nvJitLink would initialise CUDA in this process, as it does where there is a libcuda: that takes longer than
/// a run of ptxas, and processes forked afterwards could not use CUDA.
bool nvJitLinkInitialisesCuda();

ToolOutcome runNvJitLink(llvm::StringRef ptx, const Arch &arch, llvm::ArrayRef<std::string> options, const Tools &tools,
                         Assembled &result, std::string &log);
ToolOutcome runPtxas(llvm::StringRef ptx, const Arch &arch, llvm::ArrayRef<std::string> options, const Tools &tools,
                     Assembled &result, std::string &log);

} // namespace nereid::nvidia
