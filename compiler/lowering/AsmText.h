// Finds in inline assembly what LLVM would not survive.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace nereid::lowering {

/// What is wrong with the placeholders (`$0`, `${1:x}`) or the directives of an assembly with so many operands, results
/// among them; nothing where LLVM reads it. Instructions are not looked at: assemblers report those.
std::optional<std::string> findAsmFault(llvm::StringRef text, unsigned numOperands);

/// The same for its constraints.
std::optional<std::string> findConstraintFault(llvm::StringRef constraints);

} // namespace nereid::lowering
