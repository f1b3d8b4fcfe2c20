// Orders a function's instructions so that fewer of their results are live at a time.
// SPDX-License-Identifier: MIT
#pragma once

namespace llvm {
class Function;
}

namespace nereid::nvidia {

/// Basic blocks whose values would take more registers than `crowded` are ordered by use, where that lowers their peak.
void scheduleForRegisterPressure(llvm::Function &function, unsigned crowded);

} // namespace nereid::nvidia
