// Maps lines of PTX to source lines.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Location.h"

namespace nereid::nvidia {

/// The source location of line `line` of the PTX, by the .loc before it; `otherwise` where there is none.
mlir::Location locationOfLine(llvm::StringRef ptx, unsigned line, mlir::Location otherwise);

} // namespace nereid::nvidia
