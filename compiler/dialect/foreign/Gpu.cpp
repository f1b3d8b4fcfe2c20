// `gpu.barrier`.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/foreign/Dialect.h"

#include "compiler/dialect/tt/Inlinable.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::foreign;

MLIR_DEFINE_EXPLICIT_TYPE_ID(nereid::foreign::GpuDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(nereid::foreign::BarrierOp)

GpuDialect::GpuDialect(MLIRContext *context) : Dialect(getDialectNamespace(), context, TypeID::get<GpuDialect>()) {
  addOperations<BarrierOp>();
  addInterfaces<tt::Inlinable>();
}

ParseResult BarrierOp::parse(OpAsmParser &parser, OperationState &result) {
  return parser.parseOptionalAttrDict(result.attributes);
}

void BarrierOp::print(OpAsmPrinter &printer) { printer.printOptionalAttrDict((*this)->getAttrs()); }
