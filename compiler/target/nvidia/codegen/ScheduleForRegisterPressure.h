// Orders a function's instructions so that fewer of their results are live at a time.
// SPDX-License-Identifier: MIT
#pragma once

namespace llvm {
class Function;
}

namespace nereid::nvidia {

/// Basic blocks whose values would take more registers than `crowded` are ordered by use, where that lowers their peak.
/// Returns the peak of a function of one basic block; 0 for others, where values live across blocks are not counted.
unsigned scheduleForRegisterPressure(llvm::Function &function, unsigned crowded);

} // namespace nereid::nvidia
