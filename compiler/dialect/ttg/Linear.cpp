// #ttg.linear: the bases of a linear layout, written out.
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
  auto layout = LinearLayout::tryFromBases(inputs, spannedOutputs(inputs), reason);
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
