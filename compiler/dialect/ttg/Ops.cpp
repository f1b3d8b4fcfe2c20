// Holds the generated definitions of the `ttg` ops; the verifiers are in the files of their families.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "compiler/dialect/ttg/Ops.cpp.inc"
