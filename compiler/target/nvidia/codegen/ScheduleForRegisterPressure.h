// Orders a function's instructions so that fewer of their results are live at a time.
// SPDX-License-Identifier: MIT
#pragma once

namespace llvm {
class Function;
}

namespace nereid::nvidia {

/// Basic blocks whose values would not fit into a thread's registers are ordered by use, where that lowers their peak.
void scheduleForRegisterPressure(llvm::Function &function);

} // namespace nereid::nvidia
