// Types of Gluon's language as values that hosts make.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/Value.h"

namespace nereid::sema {

/// `distributed_type(element_ty, shape, layout)`.
const RecordClass &tileTypeClass();
/// `shared_memory_descriptor_type(element_ty, shape, layout, alloc_shape)`.
const RecordClass &bufferTypeClass();

} // namespace nereid::sema
