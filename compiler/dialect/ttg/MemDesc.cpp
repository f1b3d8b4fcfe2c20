// !ttg.memdesc: a tile in shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/ttg/Buffers.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
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

/// Sizes are computed in 32 bits; no shared memory has so many elements.
static constexpr uint64_t kMostElements = uint64_t(1) << 28;

static LogicalResult verifySize(function_ref<InFlightDiagnostic()> emitError, Attribute encoding,
                                ArrayRef<int64_t> allocShape) {
  uint64_t elements = 1;
  for (int64_t extent : allocShape)
    elements = llvm::SaturatingMultiply(elements, uint64_t(std::max<int64_t>(extent, 1)));
  if (auto linear = dyn_cast<SharedLinearAttr>(encoding); linear && linear.getLayout().inBits(layout::kOffset) > 28)
    elements = kMostElements + 1;
  if (auto padded = dyn_cast<PaddedSharedAttr>(encoding))
    for (const layout::Gap &gap : padded.getPadding().gaps)
      elements =
          llvm::SaturatingAdd(elements, llvm::SaturatingMultiply(elements / gap.interval + 1, uint64_t(gap.size)));
  if (elements <= kMostElements)
    return success();
  return emitError() << "a buffer of " << elements << " elements, gaps included, is larger than any shared memory";
}

/// An encoding that names its extents is of one shape.
static LogicalResult verifyShape(function_ref<InFlightDiagnostic()> emitError, LayoutEncoding encoding,
                                 ArrayRef<int64_t> shape, Type element) {
  if (auto matrix = dyn_cast<NvmmaSharedAttr>(encoding))
    return matrix.verifyBuffer(shape, element, emitError);
  if (!isa<PaddedSharedAttr, SharedLinearAttr>(encoding))
    return success();
  const SmallVector<int64_t> own = llvm::map_to_vector(encoding.toLinearLayout(shape).outputs(),
                                                       [](const auto &output) { return int64_t(output.size); });
  if (ArrayRef(own) == shape)
    return success();
  return emitError() << "the encoding lays out a tile of [" << own << "], but the buffer has [" << shape << "]";
}

LogicalResult MemDescType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                                  Attribute encoding, Attribute memorySpace, bool, ArrayRef<int64_t> allocShape) {
  auto layout = dyn_cast<LayoutEncoding>(encoding);
  if (!layout || layout.isDistributed())
    return emitError() << "the encoding of a buffer must be one of shared memory";
  if (!isa<SharedMemoryAttr>(memorySpace))
    return emitError() << "a buffer must be in #ttg.shared_memory";
  const size_t rank = layout.getRank();
  if (rank > shape.size())
    return emitError() << "an encoding of " << rank << " dimensions is on a buffer of " << shape.size();
  if (allocShape.size() < shape.size())
    return emitError() << "an allocation of " << allocShape.size() << " dimensions holds a view of " << shape.size();
  if (llvm::any_of(shape, [](int64_t extent) { return extent <= 0; }))
    return emitError() << "a buffer has no extent of " << *llvm::min_element(shape);
  // Dimensions in front count buffers.
  for (auto [extent, whole] : llvm::zip_equal(shape.take_back(rank), allocShape.take_back(rank))) {
    if (!llvm::isPowerOf2_64(extent) || whole <= 0 || !llvm::isPowerOf2_64(whole))
      return emitError() << "extent " << (llvm::isPowerOf2_64(extent) ? whole : extent)
                         << " of a buffer is not a power of two";
    if (extent > whole)
      return emitError() << "extent " << extent << " of a buffer is larger than " << whole << ", its allocation's";
  }
  if (failed(verifySize(emitError, encoding, allocShape)))
    return failure();
  return verifyShape(emitError, layout, allocShape.take_back(rank), element);
}

//--- layouts -------------------------------------------------------------------------------

ArrayRef<int64_t> ttg::laidOutShape(MemDescType buffer) {
  return buffer.getShape().take_back(cast<LayoutEncoding>(buffer.getEncoding()).getRank());
}

ArrayRef<int64_t> ttg::laidOutAllocation(MemDescType buffer) {
  return buffer.getAllocShape().take_back(cast<LayoutEncoding>(buffer.getEncoding()).getRank());
}

bool ttg::isPartOfBuffer(MemDescType buffer) { return laidOutShape(buffer) != laidOutAllocation(buffer); }

layout::LinearLayout ttg::layoutOf(MemDescType buffer) {
  return cast<LayoutEncoding>(buffer.getEncoding()).toLinearLayout(laidOutAllocation(buffer));
}

layout::Padding ttg::paddingOf(MemDescType buffer) {
  auto padded = dyn_cast<PaddedSharedAttr>(buffer.getEncoding());
  return padded ? padded.getPadding() : layout::Padding();
}

uint64_t ttg::strideOf(MemDescType buffer) { return paddingOf(buffer).apply(layoutOf(buffer).inSize(layout::kOffset)); }

uint64_t ttg::allocationBytes(MemDescType buffer) {
  const uint64_t elements = layoutOf(buffer).inSize(layout::kOffset),
                 count = llvm::product_of(buffer.getAllocShape().drop_back(laidOutAllocation(buffer).size()));
  const layout::Padding padding = paddingOf(buffer);
  return tt::storageBytes(buffer.getElementType(), (count - 1) * padding.apply(elements) + padding.extent(elements));
}

uint32_t ttg::alignmentOf(MemDescType buffer) {
  constexpr uint32_t widestAccess = 16;
  const uint32_t own = llvm::TypeSwitch<Attribute, uint32_t>(buffer.getEncoding())
                           .Case([](NvmmaSharedAttr encoding) { return encoding.alignmentBytes(); })
                           .Case([](SharedLinearAttr encoding) { return encoding.getAlignment(); })
                           .Default([](Attribute) { return 0; });
  return std::max(widestAccess, own);
}
