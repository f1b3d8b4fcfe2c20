// Parses, prints and verifies tensor descriptors.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/Rules.h"
#include "compiler/dialect/tt/TypeName.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::tt;

//--- Type ----------------------------------------------------------------------------------

/// `<128x64xf16>`, or `<128x64xf16, #shared>` with a layout; `<tensor<128x64xf16>>` is parsed too.
Type TensorDescType::parse(AsmParser &parser) {
  const llvm::SMLoc loc = parser.getCurrentLocation();
  Type block;
  if (parser.parseLess())
    return {};
  if (OptionalParseResult whole = parser.parseOptionalType(block); whole.has_value()) {
    if (*whole || parser.parseGreater())
      return {};
  } else {
    SmallVector<int64_t> shape;
    Type element;
    Attribute layout;
    if (parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
        (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout)) || parser.parseGreater())
      return {};
    block = RankedTensorType::get(shape, element, layout);
  }
  auto tile = dyn_cast<RankedTensorType>(block);
  if (!tile) {
    parser.emitError(loc, "a descriptor describes a tile, not ") << block;
    return {};
  }
  return parser.getChecked<TensorDescType>(loc, parser.getContext(), tile);
}

void TensorDescType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getBlockType().getShape())
    printer << extent << 'x';
  printer << getBlockType().getElementType();
  if (Attribute layout = getBlockType().getEncoding())
    printer << ", " << layout;
  printer << '>';
}

LogicalResult TensorDescType::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType block) {
  if (block.hasStaticShape() && block.getRank() >= 1 && block.getElementType().isIntOrFloat())
    return success();
  return emitError() << "a descriptor cannot describe blocks of type " << block;
}

RankedTensorType TensorDescType::getTileType() const {
  Type element = getBlockType().getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    element = IntegerType::get(getContext(), integer.getWidth());
  return RankedTensorType::get(getBlockType().getShape(), element);
}

//--- Rules ---------------------------------------------------------------------------------

LogicalResult MakeTensorDescOp::verify() {
  const TensorDescType type = getType();
  const auto rank = static_cast<size_t>(type.getBlockType().getRank());
  if (getShape().size() != rank || getStrides().size() != rank) // C1
    return emitOpError() << "has " << getShape().size() << " extents and " << getStrides().size()
                         << " strides for blocks of " << rank << " dimensions";
  Type element = type.getTileType().getElementType();
  if (getBase().getType().getPointee() != element) // C2
    return emitOpError() << "points to " << getBase().getType().getPointee() << ", but the blocks hold " << element;
  if (getPadding() == PaddingOption::PAD_NAN && !isa<FloatType>(element)) // C3
    return emitOpError() << "pads elements of type " << element << " with NaN";
  return success();
}

LogicalResult nereid::tt::checkOffsetCount(size_t rank, size_t offsets, const RuleReporter &reporter) {
  return offsets == rank ? success() : reporter.fail(diag::OffsetCount, rank, offsets);
}

/// C1 and C2 of accesses at indices.
static LogicalResult verifyBlock(Operation *op, TensorDescType desc, size_t indices, Type tile) {
  if (failed(checkOffsetCount(desc.getBlockType().getRank(), indices, OpReporter(op))))
    return failure();
  const RankedTensorType block = desc.getTileType();
  auto given = cast<RankedTensorType>(tile);
  if (given.getShape() == block.getShape() && given.getElementType() == block.getElementType())
    return success();
  return op->emitOpError() << "accesses blocks of " << block << " as " << tile;
}

LogicalResult DescriptorLoadOp::verify() {
  return verifyBlock(*this, getDesc().getType(), getIndices().size(), getResult().getType());
}

LogicalResult DescriptorStoreOp::verify() {
  return verifyBlock(*this, getDesc().getType(), getIndices().size(), getSrc().getType());
}

LogicalResult DescriptorReduceOp::verify() {
  if (failed(verifyBlock(*this, getDesc().getType(), getIndices().size(), getSrc().getType())))
    return failure();
  const DescriptorReduceKind kind = getKind();
  const bool isAny =
      kind == DescriptorReduceKind::ADD || kind == DescriptorReduceKind::MIN || kind == DescriptorReduceKind::MAX;
  Type element = elementOf(getSrc().getType());
  if (isAny || isa<IntegerType>(element)) // C3
    return success();
  return emitOpError() << stringifyDescriptorReduceKind(kind) << " does not combine elements of type " << element;
}

LogicalResult nereid::tt::checkRowBlock(ShapeRef block, const RuleReporter &reporter) {
  if (block.size() != 2)
    return reporter.fail(diag::RowsRank, shapeText(block));
  return block[0] == 1 ? success() : reporter.fail(diag::RowsBlock, shapeText(block));
}

LogicalResult nereid::tt::checkRowIndices(ShapeRef indices, const RuleReporter &reporter) {
  return indices.size() == 1 ? success() : reporter.fail(diag::RowsIndexRank, shapeText(indices));
}

/// C1 and C2 of accesses to rows.
static LogicalResult verifyRows(Operation *op, TensorDescType desc, RankedTensorType rows, Type tile) {
  ArrayRef<int64_t> block = desc.getBlockType().getShape();
  const OpReporter reporter(op);
  if (failed(checkRowBlock(block, reporter)) || failed(checkRowIndices(rows.getShape(), reporter)))
    return failure();
  auto given = cast<RankedTensorType>(tile);
  const int64_t wanted[] = {rows.getDimSize(0), block[1]};
  if (given.getShape() == ShapeRef(wanted) && given.getElementType() == desc.getTileType().getElementType())
    return success();
  return op->emitOpError() << "accesses rows of " << desc.getTileType() << " at " << rows << " as " << tile;
}

LogicalResult DescriptorGatherOp::verify() {
  return verifyRows(*this, getDesc().getType(), getXOffsets().getType(), getResult().getType());
}

LogicalResult DescriptorScatterOp::verify() {
  return verifyRows(*this, getDesc().getType(), getXOffsets().getType(), getSrc().getType());
}

//--- padding -------------------------------------------------------------------------------

static LogicalResult rejectPadding(Operation *op) {
  return op->emitError("a descriptor's block has extents that are no powers of two; this target has no such copies");
}

LogicalResult DescriptorLoadOp::prepareForPadding() { return rejectPadding(*this); }
LogicalResult DescriptorStoreOp::prepareForPadding() { return rejectPadding(*this); }
LogicalResult DescriptorReduceOp::prepareForPadding() { return rejectPadding(*this); }
LogicalResult DescriptorGatherOp::prepareForPadding() { return rejectPadding(*this); }
LogicalResult DescriptorScatterOp::prepareForPadding() { return rejectPadding(*this); }
