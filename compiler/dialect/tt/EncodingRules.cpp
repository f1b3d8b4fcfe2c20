// Verifies encodings of tiles of `tt` ops by the rules of the dialect that the encodings belong to.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/EncodingRules.h"

using namespace mlir;
using namespace nereid;

const tt::EncodingRules *tt::encodingRulesOf(RankedTensorType tile) {
  Attribute encoding = tile.getEncoding();
  return encoding ? encoding.getDialect().getRegisteredInterface<EncodingRules>() : nullptr;
}

LogicalResult tt::verifyResultEncoding(Operation *op, RankedTensorType source, RankedTensorType result,
                                       Attribute expected) {
  if (!source.getEncoding() != !result.getEncoding())
    return op->emitOpError("has an encoding on one of operand and result only");
  if (!expected || expected == result.getEncoding())
    return success();
  if (encodingRulesOf(source)->areEquivalent(expected, result.getEncoding(), result.getShape()))
    return success();
  return op->emitOpError("result has encoding ")
         << result.getEncoding() << "; that of the operand becomes " << expected;
}

LogicalResult tt::verifyHalves(Operation *op, Type half, Type whole) {
  auto part = cast<RankedTensorType>(half), all = cast<RankedTensorType>(whole);
  if (failed(verifyResultEncoding(op, part, all, /*expected=*/{})))
    return failure();
  const EncodingRules *rules = encodingRulesOf(part);
  if (!rules || rules->areHalves(part, all))
    return success();
  return op->emitOpError("a half has encoding ")
         << part.getEncoding() << ", both have " << all.getEncoding()
         << "; each thread must hold the same elements of each half and of both";
}

LogicalResult tt::verifySameEncoding(Operation *op) {
  std::optional<Attribute> encoding;
  auto isSame = [&](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    if (tile && !encoding)
      encoding = tile.getEncoding();
    return !tile || tile.getEncoding() == *encoding;
  };
  if (llvm::all_of(op->getOperandTypes(), isSame) && llvm::all_of(op->getResultTypes(), isSame))
    return success();
  return op->emitOpError("operands and results have different encodings");
}
