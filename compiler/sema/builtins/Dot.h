// What dot and dot_scaled share: checks of operands and accumulators.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {

Builtin dotScaledBuiltin();
Value zeroTile(const CallSite &site, const Type &type);
/// An argument that must be a tile of numbers; nothing after an error.
std::optional<Value> tileArgument(const CallSite &site, llvm::StringRef parameter);
/// False, after an error, where `acc` has another type.
bool checkAccumulator(const CallSite &site, const Value &acc, const Type &type);

} // namespace nereid::sema
