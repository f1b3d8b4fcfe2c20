// Holds the generated definitions of the `tt` ops; the verifiers are in the files of their families.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "compiler/dialect/tt/Ops.cpp.inc"
