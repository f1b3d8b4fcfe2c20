// Parses a layout from text: blocked(...), slice(...), linear(...), or the same as an attribute of ttg.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Layout.h"

namespace nereid::tools {

/// Fits the layout to `shape`. On failure sets `reason`, with the column in the text.
std::optional<layout::LinearLayout> parseLayout(llvm::StringRef text, llvm::ArrayRef<int64_t> shape,
                                                std::string &reason);

/// `16x64`, each extent a power of two.
std::optional<llvm::SmallVector<int64_t, 4>> parseShape(llvm::StringRef text, std::string &reason);

} // namespace nereid::tools
