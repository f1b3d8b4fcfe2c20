// #ttg.shared_linear: elements in shared memory in the order of a linear layout, written out.
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

Attribute SharedLinearAttr::parse(AsmParser &parser, Type) {
  std::vector<LinearLayout::Input> inputs = {{layout::kOffset.str(), {}}, {layout::kBlock.str(), {}}};
  unsigned alignment = 0;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseLBrace() || parseOffsetBases(parser, inputs) || parser.parseRBrace() ||
      parser.parseComma() || parser.parseKeyword("alignment") || parser.parseEqual() ||
      parser.parseInteger(alignment) || parser.parseGreater())
    return {};
  std::string reason;
  auto layout = LinearLayout::tryFromBases(inputs, spannedOutputs(inputs), reason);
  if (!layout)
    return parser.emitError(loc, reason), Attribute();
  return parser.getChecked<SharedLinearAttr>(loc, parser.getContext(), *layout, alignment);
}

void SharedLinearAttr::print(AsmPrinter &printer) const {
  printer << "<{";
  printOffsetBases(printer, getLayout(), /*hasBlock=*/getLayout().inBits(layout::kBlock) > 0);
  printer << "}, alignment = " << getAlignment() << ">";
}

LogicalResult SharedLinearAttr::verify(function_ref<InFlightDiagnostic()> emitError, LinearLayout layout,
                                       unsigned alignment) {
  if (!llvm::isPowerOf2_32(alignment))
    return emitError() << "alignment is " << alignment << ", which is no power of two";
  if (layout.numOutputs() == 0)
    return emitError() << "an encoding of shared memory without bases has no dimensions";
  if (!layout.isSurjective())
    return emitError() << "the bases do not reach every element of " << layout.toString();
  if (!layout.removeZeroBases(layout::kOffset).removeZeroBases(layout::kBlock).isInjective())
    return emitError() << "two offsets hold the same element; only a basis of zeros may repeat elements";
  return success();
}

unsigned SharedLinearAttr::getRank() const { return getLayout().numOutputs(); }
bool SharedLinearAttr::isDistributed() const { return false; }

/// A buffer has the encoding's own shape (MemDescType::verify).
LinearLayout SharedLinearAttr::toLinearLayout(ArrayRef<int64_t>) const { return getLayout(); }
