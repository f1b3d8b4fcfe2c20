// Emits functions of other libraries, by symbol, as code that every target can run.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/math/Math.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"

namespace nereid::lowering {

/// Emits the function `symbol` on scalars or vectors; null where there is no such code for it.
llvm::Value *emitExtern(llvm::IRBuilderBase &ir, llvm::StringRef symbol, llvm::ArrayRef<llvm::Value *> args,
                        const math::HostMath &host);

} // namespace nereid::lowering
