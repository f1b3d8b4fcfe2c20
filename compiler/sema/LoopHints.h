// What a kernel's author asks for one loop, as an attribute of its op.
// SPDX-License-Identifier: MIT
#pragma once

namespace mlir {
class Operation;
}

namespace nereid::sema {

/// `disable_licm`: what the loop computes stays in it.
void forbidHoisting(mlir::Operation *loop);

} // namespace nereid::sema
