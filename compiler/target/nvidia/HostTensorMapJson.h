// Describes the tensor maps that the host passes to a kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace nereid::nvidia {

/// A JSON list with one object per tensor map, in the order of the kernel's arguments, with the members that launchers
/// of Triton's kernels read: block_size, elem_size, elem_type (PTX's numbers), swizzle (0 to 3 for 0 to 128 bytes),
/// fp4_padded, is_im2col. Empty where the kernel takes none.
std::string describeHostTensorMaps(mlir::ModuleOp module);

} // namespace nereid::nvidia
