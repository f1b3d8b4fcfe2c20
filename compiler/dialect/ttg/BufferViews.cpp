// Verifies views of buffers in shared memory, and computes the types of those of another order or shape.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/ttg/Buffers.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/layout/BitMatrix.h"
#include "compiler/layout/Distributed.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using layout::LinearLayout;

//--- buffers that follow one another -------------------------------------------------------

void MemDescIndexOp::build(OpBuilder &builder, OperationState &state, Value src, Value index) {
  auto whole = cast<MemDescType>(src.getType());
  const ArrayRef<int64_t> shape = whole.getShape().drop_front();
  build(builder, state,
        MemDescType::get(builder.getContext(), shape, whole.getElementType(), whole.getEncoding(),
                         whole.getMemorySpace(), whole.getMutableMemory(),
                         whole.getAllocShape().take_back(shape.size())),
        src, index);
}

LogicalResult MemDescIndexOp::verify() {
  MemDescType whole = getSrc().getType(), part = getType();
  if (whole.getShape().empty() || whole.getShape().drop_front() != part.getShape() || // C1
      whole.getElementType() != part.getElementType() || whole.getEncoding() != part.getEncoding() ||
      laidOutAllocation(whole) != laidOutAllocation(part) || (part.getMutableMemory() && !whole.getMutableMemory()))
    return emitOpError("result ") << part << " is not one of the buffers of " << whole;
  return success();
}

//--- parts ---------------------------------------------------------------------------------

LogicalResult MemDescSubsliceOp::verify() {
  const MemDescType whole = getSrc().getType(), part = getType();
  if (whole.getElementType() != part.getElementType() || whole.getEncoding() != part.getEncoding() || // C1
      whole.getAllocShape() != part.getAllocShape() || (part.getMutableMemory() && !whole.getMutableMemory()))
    return emitOpError("result ") << part << " is not a part of " << whole;
  const size_t rank = whole.getShape().size(), inFront = rank - laidOutShape(whole).size();
  if (part.getShape().size() != rank || getOffsets().size() != rank) // C2
    return emitOpError("has ") << getOffsets().size() << " offsets, the buffers " << rank << " and "
                               << part.getShape().size() << " dimensions";
  for (auto [dim, offset, extent, end] : llvm::enumerate(getOffsets(), part.getShape(), whole.getShape()))
    if (offset < 0 || offset + extent > end || (dim >= inFront && offset % extent != 0))
      return emitOpError("offset ") << offset << " of an extent of " << extent << " is not a multiple of it within "
                                    << end;
  return success();
}

//--- another order -------------------------------------------------------------------------

/// `layout` with output `order[d]` as `dim`d.
static LinearLayout transposedLayout(const LinearLayout &layout, ArrayRef<int32_t> order) {
  std::vector<LinearLayout::Input> inputs;
  for (StringRef name : layout.inputNames()) {
    LinearLayout::Input &input = inputs.emplace_back(LinearLayout::Input{name.str(), {}});
    for (unsigned bit = 0; bit < layout.inBits(name); ++bit) {
      const LinearLayout::Coordinates from = layout.basis(name, bit);
      LinearLayout::Coordinates &basis = input.bases.emplace_back();
      for (int32_t dim : order)
        basis.push_back(from[dim]);
    }
  }
  std::vector<LinearLayout::Output> outputs;
  for (auto [dim, from] : llvm::enumerate(order))
    outputs.push_back({layout::dimName(dim), layout.outputs()[from].size});
  return LinearLayout::fromBases(inputs, outputs);
}

/// Where the dimensions of a list from the fastest on are in the new order.
static SmallVector<unsigned> movedDims(ArrayRef<unsigned> dims, ArrayRef<int32_t> order) {
  return llvm::map_to_vector(dims, [&](unsigned dim) { return unsigned(llvm::find(order, dim) - order.begin()); });
}

static SmallVector<unsigned> movedSplit(ArrayRef<unsigned> split, ArrayRef<int32_t> order) {
  SmallVector<unsigned> moved;
  for (; !split.empty(); split = split.drop_front(order.size()))
    for (int32_t dim : order)
      moved.push_back(split[dim]);
  return moved;
}

static Attribute transposedEncoding(MemDescType buffer, ArrayRef<int32_t> order) {
  MLIRContext *context = buffer.getContext();
  auto matrix = dyn_cast<NvmmaSharedAttr>(buffer.getEncoding());
  if (matrix && order.size() == 2)
    return NvmmaSharedAttr::get(context, matrix.getSwizzlingByteWidth(), !matrix.getTransposed(),
                                matrix.getElementBitWidth(), matrix.getRank(), matrix.getFp4Padded(),
                                movedSplit(matrix.getCgaLayout(), order));
  return llvm::TypeSwitch<Attribute, Attribute>(buffer.getEncoding())
      .Case([&](SwizzledSharedAttr encoding) {
        return SwizzledSharedAttr::get(context, encoding.getVec(), encoding.getPerPhase(), encoding.getMaxPhase(),
                                       movedDims(encoding.getOrder(), order),
                                       movedSplit(encoding.getCgaLayout(), order));
      })
      .Case([&](AmdRotatingSharedAttr encoding) {
        return AmdRotatingSharedAttr::get(context, encoding.getVec(), encoding.getPerPhase(), encoding.getMaxPhase(),
                                          movedDims(encoding.getOrder(), order));
      })
      .Case([&](PaddedSharedAttr encoding) {
        return PaddedSharedAttr::get(context, encoding.getIntervals(), encoding.getPaddings(),
                                     transposedLayout(encoding.getLayout(), order));
      })
      .Default([&](Attribute) {
        return SharedLinearAttr::get(context, transposedLayout(layoutOf(buffer), order), alignmentOf(buffer));
      });
}

FailureOr<MemDescType> ttg::transposedBuffer(ReportError emitError, MemDescType buffer, ArrayRef<int32_t> order) {
  const size_t rank = buffer.getShape().size();
  if (order.size() != rank)
    return emitError() << "order has " << order.size() << " dimensions, the buffer " << rank;
  if (failed(verifyOrder(emitError, SmallVector<unsigned>(order.begin(), order.end()))))
    return failure();
  if (laidOutShape(buffer).size() != rank)
    return emitError() << "the encoding lays out " << laidOutShape(buffer).size() << " of " << rank
                       << " dimensions; take one of the buffers by its index first";
  if (llvm::is_sorted(order))
    return buffer;
  SmallVector<int64_t> shape, allocation(buffer.getAllocShape().drop_back(rank));
  for (int32_t dim : order) {
    shape.push_back(buffer.getShape()[dim]);
    allocation.push_back(laidOutAllocation(buffer)[dim]);
  }
  return MemDescType::get(buffer.getContext(), shape, buffer.getElementType(), transposedEncoding(buffer, order),
                          buffer.getMemorySpace(), buffer.getMutableMemory(), allocation);
}

/// Reports an error where `result` is not `expected` or a type of the same elements at the same offsets.
static LogicalResult verifyEquivalent(Operation *op, MemDescType expected, MemDescType result) {
  if (result == expected)
    return success();
  if (result.getShape() != expected.getShape() || result.getElementType() != expected.getElementType() ||
      (result.getMutableMemory() && !expected.getMutableMemory()) ||
      laidOutAllocation(result) != laidOutAllocation(expected))
    return op->emitOpError("result is ") << result << ", but the view of the source is " << expected;
  if (layoutOf(result) != layoutOf(expected) || !(paddingOf(result) == paddingOf(expected)))
    return op->emitOpError("the encoding of the result puts elements elsewhere: ")
           << result << "; that of the source gives " << expected;
  return success();
}

LogicalResult MemDescTransOp::verify() {
  FailureOr<MemDescType> expected =
      transposedBuffer([&] { return emitOpError(); }, getSrc().getType(), getOrder()); // C1
  return failed(expected) ? failure() : verifyEquivalent(*this, *expected, getType()); // C2
}

//--- another shape -------------------------------------------------------------------------

static LinearLayout reshapedLayout(const LinearLayout &layout, ArrayRef<int64_t> shape) {
  SmallVector<std::string> names;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    names.push_back(layout::dimName(dim));
  SmallVector<LinearLayout::Named> outputs;
  for (auto [name, extent] : llvm::zip_equal(names, shape))
    outputs.emplace_back(name, int32_t(extent));
  return layout.reshapeOuts(outputs);
}

/// The same matrix encoding with another rank, where it puts the elements where they are.
static NvmmaSharedAttr reshapedMatrix(MemDescType buffer, NvmmaSharedAttr encoding, ArrayRef<int64_t> shape,
                                      const LinearLayout &layout) {
  if (!encoding.getCgaLayout().empty() || (shape.size() == 1 && encoding.getSwizzlingByteWidth()))
    return {};
  auto candidate =
      NvmmaSharedAttr::get(buffer.getContext(), encoding.getSwizzlingByteWidth(), encoding.getTransposed(),
                           encoding.getElementBitWidth(), shape.size(), encoding.getFp4Padded(), ArrayRef<unsigned>());
  const unsigned along = shape.size() - (shape.size() > 1 && encoding.getTransposed() ? 2 : 1);
  const int64_t panel = std::max(encoding.getSwizzlingByteWidth(), 16u);
  if (shape.size() > 1 && tt::storageBytes(buffer.getElementType(), shape[along]) < panel)
    return {};
  return candidate.toLinearLayout(shape) == layout ? candidate : NvmmaSharedAttr();
}

static Attribute reshapedEncoding(MemDescType buffer, ArrayRef<int64_t> shape) {
  const LinearLayout layout = reshapedLayout(layoutOf(buffer), shape);
  if (auto padded = dyn_cast<PaddedSharedAttr>(buffer.getEncoding()))
    return PaddedSharedAttr::get(buffer.getContext(), padded.getIntervals(), padded.getPaddings(), layout);
  if (auto matrix = dyn_cast<NvmmaSharedAttr>(buffer.getEncoding()))
    if (NvmmaSharedAttr reshaped = reshapedMatrix(buffer, matrix, shape, layout))
      return reshaped;
  return SharedLinearAttr::get(buffer.getContext(), layout, alignmentOf(buffer));
}

FailureOr<MemDescType> ttg::reshapedBuffer(ReportError emitError, MemDescType buffer, ArrayRef<int64_t> shape) {
  for (int64_t extent : shape)
    if (extent <= 0 || !llvm::isPowerOf2_64(extent))
      return emitError() << "extent " << extent << " of a buffer is not a power of two";
  if (llvm::product_of(shape) != llvm::product_of(buffer.getShape()))
    return emitError() << "shape [" << shape << "] has " << llvm::product_of(shape) << " elements, the buffer ["
                       << buffer.getShape() << "] has " << llvm::product_of(buffer.getShape());
  if (isPartOfBuffer(buffer))
    return emitError() << "a part of a buffer of [" << laidOutAllocation(buffer)
                       << "] has no other shape; reshape the whole buffer first";
  if (laidOutShape(buffer).size() != buffer.getShape().size())
    return emitError() << "the encoding lays out " << laidOutShape(buffer).size() << " of " << buffer.getShape().size()
                       << " dimensions; take one of the buffers by its index first";
  return MemDescType::get(buffer.getContext(), shape, buffer.getElementType(), reshapedEncoding(buffer, shape),
                          buffer.getMemorySpace(), buffer.getMutableMemory(), shape);
}

LogicalResult MemDescReshapeOp::verify() {
  FailureOr<MemDescType> expected = // C1, C2
      reshapedBuffer([&] { return emitOpError(); }, getSrc().getType(), getType().getShape());
  return failed(expected) ? failure() : verifyEquivalent(*this, *expected, getType()); // C3
}

//--- another type --------------------------------------------------------------------------

static uint64_t buffersIn(MemDescType buffer) {
  return llvm::product_of(buffer.getShape().drop_back(laidOutShape(buffer).size()));
}

/// Bytes of one of the buffers that follow one another.
static uint64_t bytesOfOne(MemDescType buffer) { return tt::storageBytes(buffer.getElementType(), strideOf(buffer)); }

uint64_t ttg::adjacentBytes(MemDescType part) {
  const LinearLayout whole = layoutOf(part);
  const LinearLayout offsets = whole.pseudoInvert();
  layout::BitSpan owned;
  for (auto [dim, extent] : llvm::enumerate(laidOutShape(part)))
    for (int64_t step = 1; step < extent; step *= 2)
      owned.insert(offsets.apply({{layout::dimName(dim), int32_t(step)}}).front());
  for (unsigned bit = 0; bit < whole.inBits(layout::kOffset); ++bit)
    if (llvm::all_of(whole.basis(layout::kOffset, bit), [](int32_t step) { return step == 0; }))
      owned.insert(uint64_t(1) << bit);
  uint64_t elements = 1;
  while (elements < uint64_t(whole.inSize(layout::kOffset)) && owned.contains(elements))
    elements *= 2;
  return tt::storageBytes(part.getElementType(), elements);
}

static bool haveSameGaps(MemDescType a, MemDescType b) {
  auto inBytes = [](MemDescType type) {
    layout::Padding padding = paddingOf(type).scaled(tt::storageBytes(type.getElementType()));
    llvm::sort(padding.gaps, [](const layout::Gap &x, const layout::Gap &y) { return x.interval < y.interval; });
    return padding;
  };
  return inBytes(a) == inBytes(b);
}

LogicalResult MemDescReinterpretOp::verify() {
  const MemDescType from = getSrc().getType(), to = getType();
  if (isPartOfBuffer(to) || from.getMutableMemory() != to.getMutableMemory()) // C1
    return emitOpError("result ") << to << " is no whole buffer of the memory of " << from;
  if (!haveSameGaps(from, to)) // C3
    return emitOpError("source ") << from << " and result " << to << " differ in their gaps";
  const bool isPart = isPartOfBuffer(from);
  if (isPart && (!paddingOf(from).empty() || buffersIn(from) > 1)) // C2
    return emitOpError("source ") << from << " is a part of buffers whose bytes are not adjacent";
  const uint64_t has = isPart ? adjacentBytes(from) : bytesOfOne(from) * buffersIn(from),
                 takes = bytesOfOne(to) * buffersIn(to);
  if (takes > has)
    return emitOpError("result ") << to << " takes " << takes << " bytes, the source has " << has
                                  << (isPart ? " adjacent ones" : "");
  return success();
}
