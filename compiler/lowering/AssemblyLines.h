// Maps lines of assembly (PTX, AMD's) to source lines.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Location.h"

namespace nereid::lowering {

/// The source location of line `line` of the assembly, by the .loc before it; `otherwise` where there is none.
mlir::Location locationOfLine(llvm::StringRef assembly, unsigned line, mlir::Location otherwise);

} // namespace nereid::lowering
