// Implements `gpu.barrier`.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/imported/Dialect.h"

#include "compiler/dialect/tt/Inlinable.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::imported;

MLIR_DEFINE_EXPLICIT_TYPE_ID(nereid::imported::GpuDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(nereid::imported::BarrierOp)

GpuDialect::GpuDialect(MLIRContext *context) : Dialect(getDialectNamespace(), context, TypeID::get<GpuDialect>()) {
  addOperations<BarrierOp>();
  addInterfaces<tt::Inlinable>();
}

ParseResult BarrierOp::parse(OpAsmParser &parser, OperationState &result) {
  return parser.parseOptionalAttrDict(result.attributes);
}

void BarrierOp::print(OpAsmPrinter &printer) { printer.printOptionalAttrDict((*this)->getAttrs()); }
