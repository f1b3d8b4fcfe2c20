// Checks the kinds of parsed attributes.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/InherentAttributes.h"

using namespace mlir;
using namespace nereid;

ParseResult tt::checkInherentAttributes(OpAsmParser &parser, SMLoc begin, OperationState &result) {
  return result.name.verifyInherentAttrs(result.attributes, [&] { return parser.emitError(begin); });
}

ParseResult tt::parseAttributes(OpAsmParser &parser, OperationState &result) {
  const SMLoc begin = parser.getCurrentLocation();
  return failure(parser.parseOptionalAttrDict(result.attributes) || checkInherentAttributes(parser, begin, result));
}

ParseResult tt::parseAttributesWithKeyword(OpAsmParser &parser, OperationState &result) {
  const SMLoc begin = parser.getCurrentLocation();
  return failure(parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 checkInherentAttributes(parser, begin, result));
}
