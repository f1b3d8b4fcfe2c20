// Arguments of Gluon's built-ins.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/sema/builtins/Emission.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/Names.h"

namespace nereid::sema {

/// Whether the kernel is one of Gluon: in Triton's, tiles have no layouts. Reports an error otherwise.
bool checkLanguage(const CallSite &site);
/// The tile in registers that a call gives; nothing after an error.
std::optional<TensorValue> tileOf(const CallSite &site, llvm::StringRef parameter);
/// The layout that the call gives for a tile of `shape` in registers; one still to be found for None. Null after an
/// error.
mlir::Attribute tileLayoutArgument(const CallSite &site, llvm::StringRef parameter, llvm::ArrayRef<int64_t> shape);

} // namespace nereid::sema
