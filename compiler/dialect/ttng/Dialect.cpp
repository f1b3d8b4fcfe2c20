// Registers the `ttng` dialect and holds its generated definitions.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttng/Dialect.h"

#include "compiler/dialect/tt/Inlinable.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace nereid::ttng;

#include "compiler/dialect/ttng/Dialect.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/ttng/Ops.cpp.inc"

void TtngDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/ttng/Ops.cpp.inc"
      >();
  addInterfaces<nereid::tt::Inlinable>();
}
