// The line table in a text of PTX.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Location.h"

namespace nereid::nvidia {

/// The user's line that line `line` of the text was made for, by the .loc before it; `otherwise` where there is none.
mlir::Location locationOfLine(llvm::StringRef ptx, unsigned line, mlir::Location otherwise);

} // namespace nereid::nvidia
