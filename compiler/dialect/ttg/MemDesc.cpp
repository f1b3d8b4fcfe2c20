// !ttg.memdesc: a tile in shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace nereid::ttg;

static constexpr StringLiteral kMutable = "mutable";

Type MemDescType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, allocShape;
  Type element;
  Attribute encoding, space;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma() || parser.parseAttribute(encoding) || parser.parseComma() || parser.parseAttribute(space))
    return {};
  bool isMutable = false, hasAllocShape = succeeded(parser.parseOptionalComma());
  if (hasAllocShape && succeeded(parser.parseOptionalKeyword(kMutable))) {
    isMutable = true;
    hasAllocShape = succeeded(parser.parseOptionalComma());
  }
  if (hasAllocShape && parser.parseDimensionList(allocShape, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return {};
  if (parser.parseGreater())
    return {};
  if (!hasAllocShape)
    allocShape = shape;
  return parser.getChecked<MemDescType>(loc, parser.getContext(), ArrayRef(shape), element, encoding, space, isMutable,
                                        ArrayRef(allocShape));
}

void MemDescType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType() << ", " << getEncoding() << ", " << getMemorySpace();
  if (getMutableMemory())
    printer << ", " << kMutable;
  if (getAllocShape() != getShape()) {
    printer << ", ";
    printer.printDimensionList(getAllocShape());
  }
  printer << ">";
}

LogicalResult MemDescType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                                  Attribute encoding, Attribute memorySpace, bool, ArrayRef<int64_t> allocShape) {
  auto layout = dyn_cast<LayoutEncoding>(encoding);
  if (!layout || layout.isDistributed())
    return emitError() << "the encoding of a buffer must be one of shared memory";
  if (!isa<SharedMemoryAttr>(memorySpace))
    return emitError() << "a buffer must be in #ttg.shared_memory";
  if (layout.getRank() != shape.size() && layout.getRank() + 1 != shape.size())
    return emitError() << "an encoding of " << layout.getRank() << " dimensions is on a buffer of " << shape.size();
  if (allocShape.size() < shape.size())
    return emitError() << "an allocation of " << allocShape.size() << " dimensions holds a view of " << shape.size();
  if (llvm::any_of(shape, [](int64_t extent) { return extent <= 0; }))
    return emitError() << "a buffer has no extent of " << *llvm::min_element(shape);
  for (int64_t extent : shape.take_back(layout.getRank())) // leading dimensions count buffers
    if (!llvm::isPowerOf2_64(extent))
      return emitError() << "extent " << extent << " of a buffer is not a power of two";
  if (auto matrix = dyn_cast<NvmmaSharedAttr>(encoding))
    return matrix.verifyBuffer(shape.take_back(matrix.getRank()), element, emitError);
  return success();
}
