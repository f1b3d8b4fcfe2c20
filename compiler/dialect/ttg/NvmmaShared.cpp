// #ttg.nvmma_shared: a matrix in shared memory as matrix instructions and TMA copies read it.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/dialect/ttg/ListText.h"
#include "compiler/layout/MatrixBuffer.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

//--- text ----------------------------------------------------------------------------------

namespace {
struct Fields {
  unsigned swizzlingByteWidth = 0, elementBitWidth = 0, rank = 0;
  bool transposed = false, fp4Padded = false;
  SmallVector<unsigned> cgaLayout;
};
} // namespace

static ParseResult parseCgaLayout(AsmParser &parser, Fields &fields) {
  SmallVector<SmallVector<int32_t, 4>> bases;
  const SMLoc loc = parser.getCurrentLocation();
  if (parseBases(parser, bases))
    return failure();
  for (ArrayRef<int32_t> basis : bases) {
    fields.rank = fields.rank ? fields.rank : basis.size();
    if (basis.size() != fields.rank)
      return parser.emitError(loc, "a basis of CGALayout has ")
             << basis.size() << " numbers; the encoding has " << fields.rank << " dimensions";
    fields.cgaLayout.append(basis.begin(), basis.end());
  }
  return success();
}

static ParseResult parseField(AsmParser &parser, Fields &fields) {
  StringRef key;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&key) || parser.parseEqual())
    return failure();
  if (key == "swizzlingByteWidth")
    return parser.parseInteger(fields.swizzlingByteWidth);
  if (key == "elementBitWidth")
    return parser.parseInteger(fields.elementBitWidth);
  if (key == "rank")
    return parser.parseInteger(fields.rank);
  if (key == "transposed")
    return parseFlag(parser, fields.transposed);
  if (key == "fp4Padded")
    return parseFlag(parser, fields.fp4Padded);
  if (key == "CGALayout")
    return parseCgaLayout(parser, fields);
  return parser.emitError(loc, "unknown key `") << key
                                                << "`; an encoding has swizzlingByteWidth, transposed, "
                                                   "elementBitWidth, fp4Padded, rank and CGALayout";
}

Attribute NvmmaSharedAttr::parse(AsmParser &parser, Type) {
  Fields fields;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] { return parseField(parser, fields); }) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<NvmmaSharedAttr>(loc, parser.getContext(), fields.swizzlingByteWidth, fields.transposed,
                                            fields.elementBitWidth, fields.rank ? fields.rank : 2, fields.fp4Padded,
                                            ArrayRef(fields.cgaLayout));
}

void NvmmaSharedAttr::print(AsmPrinter &printer) const {
  printer << "<{swizzlingByteWidth = " << getSwizzlingByteWidth() << ", transposed = ";
  printFlag(printer, getTransposed());
  printer << ", elementBitWidth = " << getElementBitWidth();
  if (getFp4Padded())
    printer << ", fp4Padded = true";
  if (getCgaLayout().empty() && getRank() != 2)
    printer << ", rank = " << getRank();
  printClusterSplit(printer, getCgaLayout(), SmallVector<unsigned>(getRank(), 0));
  printer << "}>";
}

//--- rules ---------------------------------------------------------------------------------

LogicalResult NvmmaSharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned swizzlingByteWidth,
                                      bool transposed, unsigned elementBitWidth, unsigned rank, bool fp4Padded,
                                      ArrayRef<unsigned> cgaLayout) {
  if (!llvm::is_contained({0u, 32u, 64u, 128u}, swizzlingByteWidth))
    return emitError() << "swizzlingByteWidth is " << swizzlingByteWidth << "; it is 0, 32, 64 or 128";
  if (!llvm::is_contained({8u, 16u, 32u, 64u}, elementBitWidth))
    return emitError() << "elementBitWidth is " << elementBitWidth << "; it is 8, 16, 32 or 64";
  if (rank == 0 || rank > 16)
    return emitError() << "rank is " << rank << "; a buffer has 1 to 16 dimensions";
  if (rank == 1 && (swizzlingByteWidth || transposed))
    return emitError() << "rank is 1, but swizzlingByteWidth is " << swizzlingByteWidth
                       << "; a row alone has neither swizzle nor transpose";
  if (fp4Padded && (swizzlingByteWidth != 128 || elementBitWidth != 8))
    return emitError() << "fp4Padded with swizzlingByteWidth " << swizzlingByteWidth << " and elementBitWidth "
                       << elementBitWidth << "; it needs 128 and 8";
  return verifyClusterSplit(emitError, cgaLayout, rank);
}

bool NvmmaSharedAttr::isDistributed() const { return false; }

static layout::MatrixBuffer bufferOf(NvmmaSharedAttr encoding) {
  return {encoding.getSwizzlingByteWidth(), encoding.getElementBitWidth(), encoding.getTransposed(),
          encoding.getFp4Padded()};
}

unsigned NvmmaSharedAttr::alignmentBytes() const { return bufferOf(*this).alignmentBytes(); }

layout::LinearLayout NvmmaSharedAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  const SmallVector<int64_t> partShape = shapeOfCta(shape, getCgaLayout());
  const layout::LinearLayout part = layout::matrixBufferLayout(bufferOf(*this), partShape);
  return getCgaLayout().empty() ? part : splitByCluster(part, getCgaLayout(), partShape);
}

LogicalResult NvmmaSharedAttr::verifyBuffer(ArrayRef<int64_t> shape, Type element,
                                            function_ref<InFlightDiagnostic()> emitError) const {
  const unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (bits != getElementBitWidth())
    return emitError() << "elementBitWidth is " << getElementBitWidth() << ", but the buffer holds " << element;
  if (shape.size() == 1)
    return success();
  const unsigned panel = bufferOf(*this).panelBytes() / (getFp4Padded() ? 2 : 1),
                 along = shape.size() - (getTransposed() ? 2 : 1);
  const SmallVector<int64_t> partShape = shapeOfCta(shape, getCgaLayout());
  if (const int64_t bytes = tt::storageBytes(element, partShape[along]); bytes < panel)
    return emitError() << "dimension " << along << " of the buffer has " << bytes << " bytes; a panel has " << panel
                       << "; a swizzlingByteWidth of " << (bytes >= 32 ? llvm::bit_floor(uint64_t(bytes)) : 0)
                       << " or a larger extent fits";
  return success();
}
