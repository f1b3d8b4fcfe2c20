// The index library's affine tiles, with the sizes of elements in a CPU's buffers.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Elements.h"
#include "compiler/index/AffineForm.h"

namespace nereid::cpu {

using index::AffineForm;
using index::AffineInfo;
using index::bytesOfPointee;
using index::isContiguous;
using index::Polynomial;
using index::PrefixMask;
using index::Remainder;
using tt::storageBytes;

} // namespace nereid::cpu
