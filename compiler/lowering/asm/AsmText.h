// Finds in inline assembly what LLVM would not survive.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Triple.h"

#include <optional>
#include <string>

namespace nereid::lowering {

/// Says what is wrong with the placeholders (`$0`, `${1:x}`) or the directives of an assembly with so many operands,
/// results among them; nothing where LLVM reads it. Instructions are not looked at: assemblers report those.
std::optional<std::string> findAsmFault(llvm::StringRef text, unsigned numOperands, const llvm::Triple &target);

/// The fault of directives that make text or bytes, which LLVM expands without a limit: the assembly may ask for some
/// ten thousands of them.
std::optional<std::string> findDirectiveFault(llvm::StringRef text, const llvm::Triple &target);

/// One of the alternatives in these constraints, `=r|m,r|r`, with results in registers: LLVM prefers memory, and does
/// not survive a result there. Where there is none, `fault` says what is wrong with them.
std::string chooseConstraints(llvm::StringRef constraints, std::optional<std::string> &fault);

} // namespace nereid::lowering
