// Makes a module for amdgcn one for NVPTX.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace nereid::sim {

/// Changes triple, data layout, calling conventions, address spaces, scopes of synchronisation and printf. AMD's
/// intrinsics have been replaced.
llvm::Error retarget(llvm::Module &module, const llvm::TargetMachine &machine);

} // namespace nereid::sim
