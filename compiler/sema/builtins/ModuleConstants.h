// Constants of the built-in modules: enum members and limits.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/Value.h"

#include <optional>

namespace nereid::sema {

/// `module`.`name` where that is a constant: `triton.language.PropagateNan.ALL`,
/// `triton.language.TRITON_MAX_TENSOR_NUMEL`, `triton.language.pi32_t`.
std::optional<Value> moduleConstant(llvm::StringRef module, llvm::StringRef name);

} // namespace nereid::sema
