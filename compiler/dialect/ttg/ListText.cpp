// Parses and prints the lists that encodings hold.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/ListText.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace nereid;

template <typename Number> static ParseResult parseNumbers(AsmParser &parser, SmallVectorImpl<Number> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    Number value = 0;
    if (parser.parseInteger(value))
      return failure();
    values.push_back(value);
    return success();
  });
}

template <typename Number> static void printNumbers(AsmPrinter &printer, ArrayRef<Number> values) {
  printer << "[";
  llvm::interleaveComma(values, printer.getStream());
  printer << "]";
}

ParseResult ttg::parseExtents(AsmParser &parser, SmallVector<unsigned> &values) { return parseNumbers(parser, values); }

void ttg::printExtents(AsmPrinter &printer, ArrayRef<unsigned> values) { printNumbers(printer, values); }

ParseResult ttg::parseBases(AsmParser &parser, SmallVector<SmallVector<int32_t, 4>> &bases) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parseNumbers(parser, bases.emplace_back()); });
}

void ttg::printBases(AsmPrinter &printer, ArrayRef<SmallVector<int32_t, 4>> bases) {
  printer << "[";
  llvm::interleaveComma(bases, printer.getStream(), [&](ArrayRef<int32_t> basis) { printNumbers(printer, basis); });
  printer << "]";
}

ParseResult ttg::parseClusterSplit(AsmParser &parser, SmallVector<unsigned> &split, ArrayRef<unsigned> order) {
  if (failed(parser.parseOptionalComma()))
    return success();
  SmallVector<SmallVector<int32_t, 4>> bases;
  if (parser.parseKeyword("CGALayout") || parser.parseEqual() || parseBases(parser, bases))
    return failure();
  for (ArrayRef<int32_t> basis : bases) {
    if (basis.size() != order.size())
      return parser.emitError(parser.getCurrentLocation(), "a basis of CGALayout has ")
             << basis.size() << " numbers; the encoding has " << order.size() << " dimensions";
    split.append(basis.begin(), basis.end());
  }
  return success();
}

void ttg::printClusterSplit(AsmPrinter &printer, ArrayRef<unsigned> split, ArrayRef<unsigned> order) {
  if (split.empty())
    return;
  SmallVector<SmallVector<int32_t, 4>> bases;
  for (size_t first = 0; first < split.size(); first += order.size())
    bases.emplace_back(split.begin() + first, split.begin() + first + order.size());
  printer << ", CGALayout = ";
  printBases(printer, bases);
}

ParseResult ttg::parseOffsetBases(AsmParser &parser, std::vector<layout::LinearLayout::Input> &inputs) {
  const SMLoc loc = parser.getCurrentLocation();
  for (auto [index, input] : llvm::enumerate(inputs)) {
    SmallVector<SmallVector<int32_t, 4>> bases;
    if (index > 0 && failed(parser.parseOptionalComma()))
      break;
    if (parser.parseKeyword(input.name) || parser.parseEqual() || parseBases(parser, bases))
      return failure();
    input.bases.assign(bases.begin(), bases.end());
  }
  size_t rank = 0;
  for (const layout::LinearLayout::Input &input : inputs)
    for (const layout::LinearLayout::Coordinates &basis : input.bases) {
      rank = rank ? rank : basis.size();
      if (basis.size() != rank || rank == 0)
        return parser.emitError(loc, "bases differ in length or are empty");
    }
  return success();
}

void ttg::printOffsetBases(AsmPrinter &printer, const layout::LinearLayout &layout, bool hasBlock) {
  auto basesOf = [&](StringRef input) {
    SmallVector<SmallVector<int32_t, 4>> bases;
    for (unsigned bit = 0; bit < layout.inBits(input); ++bit)
      bases.push_back(layout.basis(input, bit));
    return bases;
  };
  printer << "offset = ";
  printBases(printer, basesOf(layout::kOffset));
  if (!hasBlock)
    return;
  printer << ", block = ";
  printBases(printer, basesOf(layout::kBlock));
}

ParseResult ttg::parseFlag(AsmParser &parser, bool &flag) {
  StringRef word;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  flag = word == "true";
  if (!flag && word != "false")
    return parser.emitError(loc, "expected `true` or `false`");
  return success();
}

void ttg::printFlag(AsmPrinter &printer, bool flag) { printer << (flag ? "true" : "false"); }
