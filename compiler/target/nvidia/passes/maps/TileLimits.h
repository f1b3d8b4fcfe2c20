// The blocks that TMA copies.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/BuiltinTypes.h"

#include <string>

namespace nereid::nvidia {

/// The reason why TMA cannot copy such blocks; empty where it can.
std::string reasonAgainstTma(mlir::RankedTensorType block);

} // namespace nereid::nvidia
