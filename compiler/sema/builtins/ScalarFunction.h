// Regions of ops that apply a jit function or a built-in to scalars.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/builtins/Emission.h"

#include "compiler/support/Diagnostic.h"

namespace nereid::sema {

/// Fills `region` with the function given as `parameter`, applied to scalars of the `args` types, and returns the
/// results in order. The insertion point is at the region's end afterwards. Nothing after an error.
std::optional<std::vector<Value>> emitScalarFunction(const CallSite &site, llvm::StringRef parameter,
                                                     llvm::ArrayRef<Type> args, mlir::Region &region,
                                                     const support::DiagnosticKind &wrongParameterCount);

/// A combine function: two scalars of each type in, one out. The returned values; empty after an error.
llvm::SmallVector<mlir::Value> emitCombination(const CallSite &site, llvm::ArrayRef<Type> types, mlir::Region &region);

/// The argument `input`, a tile or a tuple of tiles of numbers in one shape; nothing after an error.
std::optional<std::vector<Value>> tilesOfOneShape(const CallSite &site);

} // namespace nereid::sema
