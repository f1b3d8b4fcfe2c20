// Checks of new tiles that Triton's and Gluon's built-ins share.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {

/// The number of values from `start` up to `end`; nothing after an error.
std::optional<int64_t> checkedRange(const CallSite &site);
/// A scalar of `type` from a number, a scalar or a tile of one element.
Value scalarOf(const CallSite &site, const Value &value, const Type &type, SourceRange range);

} // namespace nereid::sema
