// Changes of a tile's shape on which other built-ins are based.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {

/// The elements in row-major order under another shape; a scalar for the empty one.
Value reshapeTile(const CallSite &site, const Value &x, llvm::ArrayRef<int64_t> shape, bool canReorder = false);
/// The tile with its dimensions in another order. `range` is where `dims` was written.
Value permuteTile(const CallSite &site, const Value &x, llvm::ArrayRef<int64_t> dims, SourceRange range);

} // namespace nereid::sema
