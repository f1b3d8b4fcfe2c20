// The `gluon` dialect: layouts that the author of a kernel leaves to the compiler.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

#include "compiler/dialect/gluon/Dialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/gluon/Attrs.h.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/gluon/Ops.h.inc"

namespace nereid::gluon {

/// Whether an encoding stands for a layout that is still to be found.
bool isOpen(mlir::Attribute encoding);

} // namespace nereid::gluon
