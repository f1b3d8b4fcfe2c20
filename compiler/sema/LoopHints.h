// Hints of a kernel's author for one loop, as attributes of its op.
// SPDX-License-Identifier: MIT
#pragma once

namespace mlir {
class Operation;
}

namespace nereid::sema {

/// `disable_licm`: nothing is hoisted out of the loop.
void forbidHoisting(mlir::Operation *loop);

} // namespace nereid::sema
