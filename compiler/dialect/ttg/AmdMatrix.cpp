// #ttg.amd_mfma, #ttg.amd_wmma: the accumulators of AMD's matrix instructions.
// SPDX-License-Identifier: MIT
#include "compiler/layout/AmdMatrix.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/ListText.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using layout::LinearLayout;

using Bases = SmallVector<SmallVector<int32_t, 4>>;

static LogicalResult verifyExtents(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                                   ArrayRef<unsigned> extents) {
  if (extents.size() < 2)
    return emitError() << name << " has " << extents.size() << " dimensions; a dot has two or more";
  for (unsigned extent : extents)
    if (!llvm::isPowerOf2_32(extent))
      return emitError() << "extent " << extent << " of " << name << " is not a power of two";
  return success();
}

/// Parses `<{` and parts `name = ...` in any order; `parsePart` is called after the equals sign.
static ParseResult parseParts(AsmParser &parser, function_ref<ParseResult(StringRef name, SMLoc at)> parsePart) {
  if (parser.parseLess() || parser.parseLBrace())
    return failure();
  SmallVector<StringRef, 8> seen;
  const auto parseOne = [&]() -> ParseResult {
    StringRef name;
    const SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(seen, name))
      return parser.emitError(at) << name << " is given twice";
    seen.push_back(name);
    return parsePart(name, at);
  };
  return failure(parser.parseCommaSeparatedList(parseOne) || parser.parseRBrace() || parser.parseGreater());
}

static ParseResult refusePart(AsmParser &parser, SMLoc at, StringRef name, StringRef known) {
  return parser.emitError(at) << "`" << name << "` is not known here; the parts are " << known;
}

/// The CTAs of a cluster, which these GPUs do not have.
static ParseResult parseNoCluster(AsmParser &parser, SMLoc at) {
  Bases bases;
  if (parseBases(parser, bases))
    return failure();
  for (ArrayRef<int32_t> basis : bases)
    if (llvm::any_of(basis, [](int32_t step) { return step != 0; }))
      return parser.emitError(at) << "CGALayout splits a tile over a cluster, which GPUs with this layout do not have";
  return success();
}

//--- mfma ----------------------------------------------------------------------------------

static bool isMfmaShape(ArrayRef<unsigned> shape, unsigned elementBitWidth) {
  return (shape.size() == 2 || (shape.size() == 3 && llvm::isPowerOf2_32(shape[2]))) && shape[0] == shape[1] &&
         (shape[0] == 16 || (shape[0] == 32 && elementBitWidth == 32));
}

LogicalResult AmdMfmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned version,
                                  ArrayRef<unsigned> warpsPerCta, ArrayRef<unsigned> instrShape, bool,
                                  ArrayRef<unsigned> tilesPerWarp, unsigned elementBitWidth) {
  if (version < 1 || version > 4)
    return emitError() << "mfma of version " << version << " is not known; versions 1 to 4 are";
  if (elementBitWidth != 32 && elementBitWidth != 64)
    return emitError() << "elementBitWidth is " << elementBitWidth << "; it is 32 or 64";
  if (!isMfmaShape(instrShape, elementBitWidth)) {
    InFlightDiagnostic error = emitError() << "instrShape of mfma is [";
    llvm::interleaveComma(instrShape, error);
    return error << "]; it is [16, 16, K] or, with elements of 32 bits, [32, 32, K], with K a power of two or left out";
  }
  if (failed(verifyExtents(emitError, "warpsPerCTA", warpsPerCta)) ||
      failed(verifyExtents(emitError, "tilesPerWarp", tilesPerWarp)))
    return failure();
  if (tilesPerWarp.size() != warpsPerCta.size())
    return emitError() << "tilesPerWarp has " << tilesPerWarp.size() << " dimensions, warpsPerCTA "
                       << warpsPerCta.size();
  return success();
}

Attribute AmdMfmaAttr::parse(AsmParser &parser, Type) {
  unsigned version = 0, elementBitWidth = 32;
  SmallVector<unsigned> warps, shape, tiles;
  bool isTransposed = false;
  const SMLoc loc = parser.getCurrentLocation();
  const auto parsePart = [&](StringRef name, SMLoc at) -> ParseResult {
    if (name == "version")
      return parser.parseInteger(version);
    if (name == "warpsPerCTA")
      return parseExtents(parser, warps);
    if (name == "instrShape")
      return parseExtents(parser, shape);
    if (name == "isTransposed")
      return parseFlag(parser, isTransposed);
    if (name == "tilesPerWarp")
      return parseExtents(parser, tiles);
    if (name == "elementBitWidth")
      return parser.parseInteger(elementBitWidth);
    if (name == "CGALayout")
      return parseNoCluster(parser, at);
    return refusePart(parser, at, name,
                      "version, warpsPerCTA, instrShape, isTransposed, tilesPerWarp, elementBitWidth and CGALayout");
  };
  if (parseParts(parser, parsePart))
    return {};
  if (tiles.empty())
    tiles.assign(warps.size(), 1);
  return parser.getChecked<AmdMfmaAttr>(loc, parser.getContext(), version, ArrayRef(warps), ArrayRef(shape),
                                        isTransposed, ArrayRef(tiles), elementBitWidth);
}

void AmdMfmaAttr::print(AsmPrinter &printer) const {
  printer << "<{version = " << getVersion() << ", warpsPerCTA = ";
  printExtents(printer, getWarpsPerCTA());
  printer << ", instrShape = ";
  printExtents(printer, getInstrShape());
  printer << ", isTransposed = ";
  printFlag(printer, getIsTransposed());
  if (llvm::any_of(getTilesPerWarp(), [](unsigned tiles) { return tiles != 1; })) {
    printer << ", tilesPerWarp = ";
    printExtents(printer, getTilesPerWarp());
  }
  if (getElementBitWidth() != 32)
    printer << ", elementBitWidth = " << getElementBitWidth();
  printer << "}>";
}

layout::AmdMatrixTile AmdMfmaAttr::getTile() const {
  return {.kind = getElementBitWidth() == 64 ? layout::AmdMatrix::MfmaF64 : layout::AmdMatrix::Mfma,
          .extent = getInstrShape()[0],
          .isTransposed = getIsTransposed()};
}

unsigned AmdMfmaAttr::getInstrDepth() const { return getInstrShape().size() > 2 ? getInstrShape()[2] : 0; }

unsigned AmdMfmaAttr::getRank() const { return getWarpsPerCTA().size(); }

static layout::AmdDistribution distributionOf(AmdMfmaAttr mfma) {
  return {mfma.getWarpsPerCTA(), mfma.getTilesPerWarp()};
}

LinearLayout AmdMfmaAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  return layout::amdAccumulator(getTile(), distributionOf(*this), shape);
}

LinearLayout AmdMfmaAttr::operandLayout(unsigned operand, unsigned kWidth, ArrayRef<int64_t> shape) const {
  return layout::amdOperand(getTile(), operand, kWidth, distributionOf(*this), shape);
}

LinearLayout AmdMfmaAttr::scaleLayout(unsigned operand, ArrayRef<int64_t> shape) const {
  return layout::amdScale(getTile(), operand, distributionOf(*this), shape);
}

//--- wmma ----------------------------------------------------------------------------------

LogicalResult AmdWmmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned version, bool, unsigned rank,
                                  ArrayRef<unsigned> registerBases, ArrayRef<unsigned> warpBases,
                                  ArrayRef<unsigned> instrShape) {
  if (version != 1 && version != 2)
    return emitError() << "wmma of version " << version << " is not known; versions 1 (gfx11) and 2 (gfx12) are";
  if (rank < 2)
    return emitError() << "wmma has " << rank << " dimensions; a dot has two or more";
  for (auto [name, bases] : {std::pair("register", registerBases), std::pair("warp", warpBases)}) {
    if (bases.size() % rank)
      return emitError() << "the " << name << " bases of ctaLayout differ in length from the " << rank << " dimensions";
    for (unsigned step : bases)
      if (step && !llvm::isPowerOf2_32(step))
        return emitError() << "a " << name << " basis of ctaLayout holds " << step << ", which is not a power of two";
  }
  if (instrShape.size() != 3 || instrShape[0] != 16 || instrShape[1] != 16 || instrShape[2] != 16) {
    InFlightDiagnostic error = emitError() << "instrShape of wmma is [";
    llvm::interleaveComma(instrShape, error);
    return error << "]; versions 1 and 2 have [16, 16, 16]";
  }
  return success();
}

SmallVector<unsigned> AmdWmmaAttr::basesOfWarps(ArrayRef<unsigned> warpsPerCta) {
  SmallVector<unsigned> bases;
  for (unsigned dim : llvm::reverse(llvm::seq<unsigned>(0, warpsPerCta.size())))
    for (unsigned step = 1; step < warpsPerCta[dim]; step *= 2) {
      bases.append(warpsPerCta.size(), 0);
      bases[bases.size() - warpsPerCta.size() + dim] = step;
    }
  return bases;
}

/// `{register = [[1, 0]], warp = [[0, 1]]}`; lists may be absent.
static ParseResult parseCtaLayout(AsmParser &parser, Bases &registers, Bases &warps) {
  if (parser.parseLBrace())
    return failure();
  if (succeeded(parser.parseOptionalRBrace()))
    return success();
  const auto parseOne = [&]() -> ParseResult {
    StringRef name;
    const SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name != "register" && name != "warp")
      return refusePart(parser, at, name, "register and warp");
    return parseBases(parser, name == "warp" ? warps : registers);
  };
  return failure(parser.parseCommaSeparatedList(parseOne) || parser.parseRBrace());
}

static SmallVector<unsigned> flattened(const Bases &bases) {
  SmallVector<unsigned> numbers;
  for (ArrayRef<int32_t> basis : bases)
    numbers.append(basis.begin(), basis.end());
  return numbers;
}

Attribute AmdWmmaAttr::parse(AsmParser &parser, Type) {
  unsigned version = 0;
  bool isTranspose = false;
  Bases registers, warps;
  SmallVector<unsigned> warpsPerCta, shape = {16, 16, 16};
  const SMLoc loc = parser.getCurrentLocation();
  const auto parsePart = [&](StringRef name, SMLoc at) -> ParseResult {
    if (name == "version")
      return parser.parseInteger(version);
    if (name == "isTranspose")
      return parseFlag(parser, isTranspose);
    if (name == "ctaLayout")
      return parseCtaLayout(parser, registers, warps);
    if (name == "warpsPerCTA")
      return parseExtents(parser, warpsPerCta);
    if (name == "instrShape") {
      shape.clear();
      return parseExtents(parser, shape);
    }
    if (name == "CGALayout")
      return parseNoCluster(parser, at);
    return refusePart(parser, at, name, "version, isTranspose, ctaLayout, warpsPerCTA, instrShape and CGALayout");
  };
  if (parseParts(parser, parsePart))
    return {};
  if (!warpsPerCta.empty() && failed(verifyExtents([&] { return parser.emitError(loc); }, "warpsPerCTA", warpsPerCta)))
    return {};
  const unsigned rank = !warps.empty()       ? warps[0].size()
                        : !registers.empty() ? registers[0].size()
                                             : std::max<size_t>(warpsPerCta.size(), 2);
  for (const Bases &list : {registers, warps})
    for (ArrayRef<int32_t> basis : list)
      if (basis.size() != rank)
        return parser.emitError(loc, "the bases of ctaLayout differ in length"), Attribute();
  const SmallVector<unsigned> warpBases = warps.empty() ? basesOfWarps(warpsPerCta) : flattened(warps);
  return parser.getChecked<AmdWmmaAttr>(loc, parser.getContext(), version, isTranspose, rank,
                                        ArrayRef<unsigned>(flattened(registers)), ArrayRef(warpBases), ArrayRef(shape));
}

static Bases unflattened(ArrayRef<unsigned> numbers, unsigned rank) {
  Bases bases;
  for (; !numbers.empty(); numbers = numbers.drop_front(rank))
    bases.emplace_back(numbers.begin(), numbers.begin() + rank);
  return bases;
}

void AmdWmmaAttr::print(AsmPrinter &printer) const {
  printer << "<{version = " << getVersion() << ", isTranspose = ";
  printFlag(printer, getIsTranspose());
  printer << ", ctaLayout = {";
  SmallVector<std::pair<StringRef, ArrayRef<unsigned>>, 2> lists;
  if (!getRegisterBases().empty())
    lists.push_back({"register", getRegisterBases()});
  if (!getWarpBases().empty())
    lists.push_back({"warp", getWarpBases()});
  llvm::interleaveComma(lists, printer.getStream(), [&](const auto &list) {
    printer << list.first << " = ";
    printBases(printer, unflattened(list.second, getRank()));
  });
  printer << "}}>";
}

unsigned AmdWmmaAttr::getRank() const { return getNumDims(); }

layout::AmdMatrixTile AmdWmmaAttr::getTile() const {
  return {.kind = getVersion() == 1 ? layout::AmdMatrix::WmmaReplicated : layout::AmdMatrix::Wmma,
          .extent = 16,
          .isTransposed = getIsTranspose()};
}

static layout::AmdDistribution distributionOf(AmdWmmaAttr wmma) {
  layout::AmdDistribution distribution;
  for (ArrayRef<int32_t> basis : unflattened(wmma.getRegisterBases(), wmma.getRank()))
    distribution.registers.push_back({basis.begin(), basis.end()});
  for (ArrayRef<int32_t> basis : unflattened(wmma.getWarpBases(), wmma.getRank()))
    distribution.warps.push_back({basis.begin(), basis.end()});
  return distribution;
}

LinearLayout AmdWmmaAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  return layout::amdAccumulator(getTile(), distributionOf(*this), shape);
}

LinearLayout AmdWmmaAttr::operandLayout(unsigned operand, unsigned kWidth, ArrayRef<int64_t> shape) const {
  return layout::amdOperand(getTile(), operand, kWidth, distributionOf(*this), shape);
}
