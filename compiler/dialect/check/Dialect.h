// The `check` dialect: checks of values that a sanitizer runs inside a kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/dialect/check/Dialect.h.inc"
#include "compiler/dialect/check/Enums.h.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/check/Ops.h.inc"
