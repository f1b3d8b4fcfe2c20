// Checks of operands and accumulators that dot and dot_scaled share.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {

Builtin dotScaledBuiltin();
Value zeroTile(const CallSite &site, const Type &type);
/// An argument that must be a tile of numbers; nothing after an error.
std::optional<Value> tileArgument(const CallSite &site, llvm::StringRef parameter);
/// Reports an `acc` of another type and returns false.
bool checkAccumulator(const CallSite &site, const Value &acc, const Type &type);

} // namespace nereid::sema
