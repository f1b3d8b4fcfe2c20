// Makes tensor maps of descriptors: of a kernel's arguments, and of those that it creates.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

namespace nereid::nvidia {

using ChoosesType = llvm::function_ref<bool(tt::TensorDescType)>;

/// Takes the chosen descriptors as their fields, in the order of the plain launch ABI, and makes tensor maps of them.
void takeFields(tt::FuncOp kernel, ChoosesType isChosen);
/// Takes the chosen descriptors as tensor maps that the host has made.
void takeTensorMaps(tt::FuncOp kernel, ChoosesType isChosen);
/// Replaces the descriptor that an op creates.
void makeTensorMap(tt::MakeTensorDescOp make);

} // namespace nereid::nvidia
