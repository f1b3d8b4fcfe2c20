// Maps lines of assembly (PTX, AMD's) to source lines.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Location.h"

#include <string>

namespace nereid::lowering {

/// The source location of line `line` of the assembly, by the .loc before it; `otherwise` where there is none.
mlir::Location locationOfLine(llvm::StringRef assembly, unsigned line, mlir::Location otherwise);

/// " at line 7" for a message; empty for line 0, which is unknown.
std::string atLine(unsigned line);

} // namespace nereid::lowering
