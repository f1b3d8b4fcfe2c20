// #ttg.padded_shared: elements in shared memory in the order of a linear layout, with gaps.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/dialect/ttg/ListText.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using layout::LinearLayout;

/// The bits of an offset run along the dimensions in that order.
static LinearLayout::Input identityBases(ArrayRef<unsigned> order, ArrayRef<unsigned> shape) {
  LinearLayout::Input offset{layout::kOffset.str(), {}};
  for (unsigned dim : order)
    for (unsigned step = 1; step < shape[dim]; step *= 2)
      offset.bases.emplace_back(shape.size(), 0)[dim] = step;
  return offset;
}

//--- text ----------------------------------------------------------------------------------

/// `[512:+8, 1024:+16]`
static ParseResult parsePaddings(AsmParser &parser, SmallVector<unsigned> &intervals, SmallVector<unsigned> &paddings) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    return failure(parser.parseInteger(intervals.emplace_back()) || parser.parseColon() || parser.parsePlus() ||
                   parser.parseInteger(paddings.emplace_back()));
  });
}

/// `order = [1, 0], shape = [64, 32]`, after the first keyword; gives the extents.
static ParseResult parseIdentity(AsmParser &parser, LinearLayout::Input &offset, SmallVector<unsigned> &shape) {
  SmallVector<unsigned> order;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseEqual() || parseExtents(parser, order) || parser.parseComma() || parser.parseKeyword("shape") ||
      parser.parseEqual() || parseExtents(parser, shape))
    return failure();
  if (order.size() != shape.size() || failed(verifyOrder([&] { return parser.emitError(loc); }, order)))
    return parser.emitError(loc, "order and shape do not fit");
  for (unsigned extent : shape)
    if (!llvm::isPowerOf2_32(extent))
      return parser.emitError(loc, "extent ") << extent << " is not a power of two";
  offset = identityBases(order, shape);
  return success();
}

Attribute PaddedSharedAttr::parse(AsmParser &parser, Type) {
  SmallVector<unsigned> intervals, paddings, shape;
  std::vector<LinearLayout::Input> inputs = {{layout::kOffset.str(), {}}, {layout::kBlock.str(), {}}};
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parsePaddings(parser, intervals, paddings) || parser.parseLBrace())
    return {};
  const bool isIdentity = succeeded(parser.parseOptionalKeyword("order"));
  if (isIdentity ? parseIdentity(parser, inputs[0], shape) : parseOffsetBases(parser, inputs))
    return {};
  if (parser.parseRBrace() || parser.parseGreater())
    return {};
  std::vector<LinearLayout::Output> outputs = spannedOutputs(inputs);
  for (unsigned dim = outputs.size(); dim < shape.size(); ++dim) // of one element
    outputs.push_back({"dim" + std::to_string(dim), 1});
  std::string reason;
  auto layout = LinearLayout::tryFromBases(inputs, outputs, reason);
  if (!layout)
    return parser.emitError(loc, reason), Attribute();
  return parser.getChecked<PaddedSharedAttr>(loc, parser.getContext(), ArrayRef(intervals), ArrayRef(paddings),
                                             *layout);
}

/// The dimensions by the lowest offset bit that moves along them; those of one element come last.
static SmallVector<unsigned> orderOf(const LinearLayout &layout) {
  SmallVector<unsigned> order;
  for (unsigned bit = 0; bit < layout.inBits(layout::kOffset); ++bit)
    for (auto [dim, step] : llvm::enumerate(layout.basis(layout::kOffset, bit)))
      if (step && !llvm::is_contained(order, dim))
        order.push_back(dim);
  for (unsigned dim : lastDimFirst(layout.numOutputs()))
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  return order;
}

void PaddedSharedAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip_equal(getIntervals(), getPaddings()), printer.getStream(),
                        [&](auto pair) { printer << std::get<0>(pair) << ":+" << std::get<1>(pair); });
  printer << "] {";
  const LinearLayout &layout = getLayout();
  const SmallVector<unsigned> order = orderOf(layout),
                              shape = llvm::map_to_vector(layout.outputs(), [](const LinearLayout::Output &output) {
                                return unsigned(output.size);
                              });
  std::vector<LinearLayout::Coordinates> bases;
  for (unsigned bit = 0; bit < layout.inBits(layout::kOffset); ++bit)
    bases.push_back(layout.basis(layout::kOffset, bit));
  if (layout.inBits(layout::kBlock) == 0 && bases == identityBases(order, shape).bases) {
    printer << "order = ";
    printExtents(printer, order);
    printer << ", shape = ";
    printExtents(printer, shape);
  } else {
    printOffsetBases(printer, layout, /*hasBlock=*/true);
  }
  printer << "}>";
}

//--- rules ---------------------------------------------------------------------------------

/// Whole elements move: each basis is a power of two along one dimension.
static bool isAlongOneDim(const LinearLayout::Coordinates &basis) {
  return llvm::count_if(basis, [](int32_t step) { return step != 0; }) <= 1 &&
         llvm::all_of(basis, [](int32_t step) { return step == 0 || llvm::isPowerOf2_32(step); });
}

static LogicalResult verifyIntervals(function_ref<InFlightDiagnostic()> emitError, ArrayRef<unsigned> intervals,
                                     ArrayRef<unsigned> paddings) {
  if (intervals.empty() || intervals.size() != paddings.size())
    return emitError() << "a padded encoding has intervals, and a padding for each; there are " << intervals.size()
                       << " and " << paddings.size();
  for (auto [index, interval] : llvm::enumerate(intervals)) {
    if (!llvm::isPowerOf2_32(interval) || !llvm::isPowerOf2_32(paddings[index]))
      return emitError() << "intervals and paddings must be powers of two; " << interval << ":+" << paddings[index]
                         << " is not";
    if (llvm::is_contained(intervals.take_front(index), interval))
      return emitError() << "interval " << interval << " is given twice; give it once, with the sum of the paddings";
  }
  return success();
}

LogicalResult PaddedSharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<unsigned> intervals,
                                       ArrayRef<unsigned> paddings, LinearLayout layout) {
  if (failed(verifyIntervals(emitError, intervals, paddings)))
    return failure();
  if (layout.numOutputs() == 0)
    return emitError() << "a padded encoding without bases has no dimensions";
  for (StringRef input : {layout::kOffset, layout::kBlock})
    for (unsigned bit = 0; bit < layout.inBits(input); ++bit)
      if (!isAlongOneDim(layout.basis(input, bit)))
        return emitError() << "basis " << bit << " of " << input
                           << " is not a power of two along one dimension; a padded encoding moves whole elements, "
                              "#ttg.shared_linear permutes them";
  if (!layout.isSurjective() || !layout.removeZeroBases(layout::kBlock).isInjective())
    return emitError() << "the bases of a padded encoding give each element one offset";
  return success();
}

unsigned PaddedSharedAttr::getRank() const { return getLayout().numOutputs(); }
bool PaddedSharedAttr::isDistributed() const { return false; }

/// A buffer has the encoding's own shape (MemDescType::verify).
LinearLayout PaddedSharedAttr::toLinearLayout(ArrayRef<int64_t>) const { return getLayout(); }

layout::Padding PaddedSharedAttr::getPadding() const {
  layout::Padding padding;
  for (auto [interval, size] : llvm::zip_equal(getIntervals(), getPaddings()))
    padding.gaps.push_back({interval, size});
  return padding;
}
