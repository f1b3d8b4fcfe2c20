// The index library's affine tiles, with the sizes of elements in a CPU's buffers.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/index/AffineForm.h"

namespace nereid::cpu {

using index::AffineForm;
using index::AffineInfo;
using index::bytesOfPointee;
using index::isContiguous;
using index::Polynomial;
using index::PrefixMask;
using index::Remainder;

/// Bytes that an element takes in memory; i1 takes one.
inline uint64_t storageBytes(mlir::Type element) {
  if (mlir::isa<tt::PointerType, mlir::IndexType>(element))
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

} // namespace nereid::cpu
