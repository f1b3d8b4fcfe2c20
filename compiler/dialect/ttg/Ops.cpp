// Holds the generated definitions of the `ttg` ops; the verifiers are in the files of their families.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

/// `0, 16`
static ParseResult parseOffsets(OpAsmParser &parser, DenseI32ArrayAttr &offsets) {
  SmallVector<int32_t> numbers;
  if (parser.parseCommaSeparatedList([&] { return parser.parseInteger(numbers.emplace_back()); }))
    return failure();
  offsets = parser.getBuilder().getDenseI32ArrayAttr(numbers);
  return success();
}

static void printOffsets(OpAsmPrinter &printer, Operation *, DenseI32ArrayAttr offsets) {
  llvm::interleaveComma(offsets.asArrayRef(), printer.getStream());
}

#define GET_OP_CLASSES
#include "compiler/dialect/ttg/Ops.cpp.inc"
