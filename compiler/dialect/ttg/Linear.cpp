// #ttg.linear, #ttg.padded_shared: the bases of linear layouts, written out.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/dialect/ttg/ListText.h"
#include "compiler/layout/Distributed.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using layout::LinearLayout;

static constexpr StringLiteral inputNames[] = {layout::kRegister, layout::kLane, layout::kWarp, layout::kBlock};

/// The extent of each dimension is the span of its bases.
static std::vector<LinearLayout::Output> outputsOf(ArrayRef<LinearLayout::Input> inputs) {
  std::vector<LinearLayout::Output> outputs;
  for (const LinearLayout::Input &input : inputs)
    for (const LinearLayout::Coordinates &basis : input.bases)
      for (auto [dim, coordinate] : llvm::enumerate(basis)) {
        if (outputs.size() <= dim)
          outputs.push_back({layout::dimName(dim), 1});
        if (coordinate > 0)
          outputs[dim].size = std::max<int32_t>(outputs[dim].size, llvm::NextPowerOf2(coordinate));
      }
  return outputs;
}

Attribute LinearAttr::parse(AsmParser &parser, Type) {
  std::vector<LinearLayout::Input> inputs;
  if (parser.parseLess() || parser.parseLBrace())
    return {};
  const SMLoc loc = parser.getCurrentLocation();
  size_t rank = 0;
  for (StringRef name : inputNames) {
    SmallVector<SmallVector<int32_t, 4>> bases;
    if ((!inputs.empty() && parser.parseComma()) || parser.parseKeyword(name) || parser.parseEqual() ||
        parseBases(parser, bases))
      return {};
    inputs.push_back({name.str(), {bases.begin(), bases.end()}});
    for (const auto &basis : bases) {
      rank = rank ? rank : basis.size();
      if (basis.size() != rank || rank == 0)
        return parser.emitError(loc, "bases differ in length or are empty"), Attribute();
    }
  }
  if (parser.parseRBrace() || parser.parseGreater())
    return {};
  std::string reason;
  auto layout = LinearLayout::tryFromBases(inputs, outputsOf(inputs), reason);
  if (!layout)
    return parser.emitError(loc, reason), Attribute();
  return parser.getChecked<LinearAttr>(loc, parser.getContext(), *layout);
}

void LinearAttr::print(AsmPrinter &printer) const {
  printer << "<{";
  llvm::interleaveComma(inputNames, printer.getStream(), [&](StringRef name) {
    SmallVector<SmallVector<int32_t, 4>> bases;
    for (unsigned bit = 0; bit < getLayout().inBits(name); ++bit)
      bases.push_back(getLayout().basis(name, bit));
    printer << name << " = ";
    printBases(printer, bases);
  });
  printer << "}>";
}

LogicalResult LinearAttr::verify(function_ref<InFlightDiagnostic()> emitError, LinearLayout layout) {
  if (layout.numOutputs() == 0)
    return emitError() << "a linear encoding without bases has no dimensions";
  for (auto [dim, name] : llvm::enumerate(layout.outputNames()))
    if (name != layout::dimName(dim))
      return emitError() << "output " << dim << " of a linear encoding is named " << name;
  for (StringRef name : inputNames)
    if (!layout.hasInput(name))
      return emitError() << "a linear encoding has no " << name << " bases";
  if (!layout.isSurjective())
    return emitError() << "the bases do not reach every element";
  return success();
}

unsigned LinearAttr::getRank() const { return getLayout().numOutputs(); }

LinearLayout LinearAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  return layout::fitToShape(getLayout(), lastDimFirst(getRank()), shape).removeZeroBases(layout::kRegister);
}

//--- padded shared memory ------------------------------------------------------------------

/// `[512:+8, 1024:+16]`
static ParseResult parsePaddings(AsmParser &parser, SmallVector<unsigned> &intervals, SmallVector<unsigned> &paddings) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    return failure(parser.parseInteger(intervals.emplace_back()) || parser.parseColon() || parser.parsePlus() ||
                   parser.parseInteger(paddings.emplace_back()));
  });
}

/// `order = [1, 0], shape = [64, 32]`, after the first keyword: the offset's bits run along the dims in that order.
static ParseResult parseIdentity(AsmParser &parser, LinearLayout::Input &offset) {
  SmallVector<unsigned> order, shape;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseEqual() || parseExtents(parser, order) || parser.parseComma() || parser.parseKeyword("shape") ||
      parser.parseEqual() || parseExtents(parser, shape))
    return failure();
  if (order.size() != shape.size() || failed(verifyOrder([&] { return parser.emitError(loc); }, order)))
    return parser.emitError(loc, "order and shape do not fit");
  for (unsigned dim : order)
    for (unsigned step = 1; step < shape[dim]; step *= 2) {
      LinearLayout::Coordinates &basis = offset.bases.emplace_back(shape.size(), 0);
      basis[dim] = step;
    }
  return success();
}

static ParseResult parseOffsetBases(AsmParser &parser, LinearLayout::Input &offset) {
  SmallVector<SmallVector<int32_t, 4>> bases, ofBlocks;
  if (parser.parseEqual() || parseBases(parser, bases) || parser.parseComma() || parser.parseKeyword("block") ||
      parser.parseEqual() || parseBases(parser, ofBlocks))
    return failure();
  if (!ofBlocks.empty())
    return parser.emitError(parser.getCurrentLocation(), "a padded buffer is not split over CTAs");
  offset.bases.assign(bases.begin(), bases.end());
  return success();
}

Attribute PaddedSharedAttr::parse(AsmParser &parser, Type) {
  SmallVector<unsigned> intervals, paddings;
  std::vector<LinearLayout::Input> inputs = {{layout::kOffset.str(), {}}, {layout::kBlock.str(), {}}};
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parsePaddings(parser, intervals, paddings) || parser.parseLBrace())
    return {};
  const bool isIdentity = succeeded(parser.parseOptionalKeyword("order"));
  if (isIdentity && parseIdentity(parser, inputs[0]))
    return {};
  if (!isIdentity && (parser.parseKeyword("offset") || parseOffsetBases(parser, inputs[0])))
    return {};
  if (parser.parseRBrace() || parser.parseGreater())
    return {};
  for (const LinearLayout::Coordinates &basis : inputs[0].bases)
    if (basis.size() != inputs[0].bases.front().size())
      return parser.emitError(loc, "bases differ in length"), Attribute();
  std::string reason;
  auto layout = LinearLayout::tryFromBases(inputs, outputsOf(inputs), reason);
  if (!layout)
    return parser.emitError(loc, reason), Attribute();
  return parser.getChecked<PaddedSharedAttr>(loc, parser.getContext(), ArrayRef(intervals), ArrayRef(paddings),
                                             *layout);
}

void PaddedSharedAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip_equal(getIntervals(), getPaddings()), printer.getStream(),
                        [&](auto pair) { printer << std::get<0>(pair) << ":+" << std::get<1>(pair); });
  SmallVector<SmallVector<int32_t, 4>> bases;
  for (unsigned bit = 0; bit < getLayout().inBits(layout::kOffset); ++bit)
    bases.push_back(getLayout().basis(layout::kOffset, bit));
  printer << "] {offset = ";
  printBases(printer, bases);
  printer << ", block = []}>";
}

LogicalResult PaddedSharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<unsigned> intervals,
                                       ArrayRef<unsigned> paddings, LinearLayout layout) {
  if (intervals.empty() || intervals.size() != paddings.size())
    return emitError() << "a padded encoding has intervals, and a padding for each";
  if (layout.numOutputs() == 0)
    return emitError() << "a padded encoding without bases has no dimensions";
  if (!layout.isSurjective() || layout.totalInBits() != layout.totalOutBits())
    return emitError() << "the bases of a padded encoding give each element one offset";
  return success();
}

unsigned PaddedSharedAttr::getRank() const { return getLayout().numOutputs(); }
bool PaddedSharedAttr::isDistributed() const { return false; }

/// A tile of another shape than the encoding's has an order of its own, the same for what writes and reads it.
LinearLayout PaddedSharedAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  LinearLayout::Coordinates own;
  for (const LinearLayout::Output &output : getLayout().outputs())
    own.push_back(output.size);
  if (llvm::equal(own, shape))
    return getLayout();
  return SwizzledSharedAttr::get(getContext(), 1, 1, 1, lastDimFirst(getRank())).toLinearLayout(shape);
}
