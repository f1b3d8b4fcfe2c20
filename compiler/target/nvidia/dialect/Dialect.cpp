// Registers the `ttng` dialect and holds its generated definitions.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/dialect/Dialect.h"

#include "compiler/dialect/tt/Inlinable.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace nereid::ttng;

#include "compiler/target/nvidia/dialect/Dialect.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/target/nvidia/dialect/Ops.cpp.inc"

void TtngDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/target/nvidia/dialect/Ops.cpp.inc"
      >();
  addInterfaces<nereid::tt::Inlinable>();
}
