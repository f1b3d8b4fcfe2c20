// Distributes waves over dots of matrix instructions and chooses vectors along the K dimension.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/passes/MatrixLayouts.h"

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/passes/ttg/DotLayouts.h"
#include "compiler/target/amd/dialect/MatrixInstruction.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

std::optional<amd::Arch> amd::archOf(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto target = module->getAttrOfType<StringAttr>(kTarget);
  StringRef name = target ? target.getValue() : StringRef();
  std::string reason;
  return name.consume_front("hip:") ? findArch(name.str(), reason) : std::nullopt;
}

/// Tiles of 32 rows and columns read each operand half as often, where every wave gets one.
static unsigned extentOf(tt::DotOpInterface dot, const amd::Arch &arch, amd::MatrixKind kind, unsigned numWarps) {
  if (!amd::matrixInstruction(arch, kind, 32, amd::depthOf(dot)))
    return 16;
  if (auto asked = dot->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(amd::kNonKDim))
    return asked.getInt();
  ArrayRef<int64_t> shape = tt::shapeOf(dot.getD().getType());
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const bool isLarge = rows >= 32 && columns >= 32 && llvm::product_of(shape) >= int64_t{numWarps} * 32 * 32;
  return isLarge ? 32 : 16;
}

/// CDNA's generation, as `#ttg.amd_mfma` numbers it.
static unsigned mfmaVersion(const amd::Arch &arch) { return arch.hasDoubleDepth ? 4 : arch.hasWideInt8 ? 3 : 2; }

LayoutEncoding amd::dotLayout(tt::DotOpInterface dot, ThreadCounts threads) {
  const std::optional<Arch> arch = archOf(dot);
  const std::optional<MatrixKind> kind = arch ? matrixKindOf(dot, *arch) : std::nullopt;
  if (!kind || threads.threadsPerWarp != arch->waveSize)
    return {};
  const unsigned extent = extentOf(dot, *arch, *kind, threads.numWarps);
  const SmallVector<unsigned> warps = spreadWarps(dot, threads.numWarps, extent, extent);
  MLIRContext *context = dot->getContext();
  switch (arch->matrixUnit) {
  case MatrixUnit::None:
    return {};
  case MatrixUnit::Mfma:
    return AmdMfmaAttr::get(context, mfmaVersion(*arch), warps,
                            {extent, extent, matrixInstruction(*arch, *kind, extent, depthOf(dot))->depth},
                            /*isTransposed=*/true, *kind == MatrixKind::F64 ? 64 : 32);
  case MatrixUnit::WmmaReplicated:
    // Lanes hold every second element of a run: no vectors either way. But a lane of a transposed result holds the row
    // that it needs as an operand.
    return AmdWmmaAttr::get(context, 1, /*isTranspose=*/isChained(dot), warps);
  case MatrixUnit::Wmma:
    return AmdWmmaAttr::get(context, 2, /*isTranspose=*/true, warps);
  }
  llvm_unreachable("all units are listed");
}

static layout::AmdMatrixTile tileOf(LayoutEncoding accumulator) {
  if (auto mfma = dyn_cast<AmdMfmaAttr>(accumulator))
    return mfma.getTile();
  return cast<AmdWmmaAttr>(accumulator).getTile();
}

/// The run of adjacent elements that a lane holds of a transposed accumulator; 1 where it holds none.
static unsigned runOfAccumulator(const layout::AmdMatrixTile &tile) {
  if (!tile.isTransposed)
    return 1;
  unsigned run = 0;
  for (unsigned element : tile.run())
    run += element == run;
  return run;
}

/// The elements along k that the user wants to be read at once; else as many as a read of shared memory takes.
static unsigned wantedWidth(tt::DotOp dot, const layout::AmdMatrixTile &tile, unsigned widest) {
  auto kpack = dot->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(amd::kKpack);
  const std::optional<amd::Arch> arch = kpack ? amd::archOf(dot) : std::nullopt;
  const std::optional<amd::MatrixKind> kind = arch ? amd::matrixKindOf(dot, *arch) : std::nullopt;
  if (!kind)
    return widest;
  const auto instruction = amd::matrixInstruction(*arch, *kind, tile.extent, amd::depthOf(dot));
  return instruction ? unsigned(kpack.getInt()) * instruction->perLane : widest;
}

/// The adjacent elements along k that a lane holds: as many as a read of shared memory takes, but no more than a lane's
/// part of k. A dot takes the elements along k in any order, if both operands have the same one; an operand computed
/// from another dot keeps that dot's order.
static unsigned widthAlongK(tt::DotOp dot, const layout::AmdMatrixTile &tile) {
  const unsigned bits = tt::elementOf(dot.getA().getType()).getIntOrFloatBitWidth();
  const int64_t depth = tt::shapeOf(dot.getA().getType()).back();
  const unsigned share = std::max<int64_t>(1, depth / tile.groupsAlongK());
  const unsigned widest = 128 / bits;
  if (isComputedFromDot(dot.getA()) || isComputedFromDot(dot.getB()))
    return std::min({runOfAccumulator(tile), share, widest});
  return std::min({wantedWidth(dot, tile, widest), share, widest});
}

static LayoutEncoding operandOfScaled(tt::DotScaledOp dot, unsigned operand, LayoutEncoding accumulator) {
  MLIRContext *context = dot.getContext();
  if (operand < 2)
    return DotOperandAttr::get(context, operand, accumulator, amd::kMxWidth);
  const bool isOfA = dot->getOperand(operand) == dot.getAScale() && operand == dot.getODSOperandIndexAndLength(3).first;
  Value scale = isOfA ? dot.getAScale() : dot.getBScale();
  return LinearAttr::get(context,
                         cast<AmdMfmaAttr>(accumulator).scaleLayout(isOfA ? 0 : 1, tt::shapeOf(scale.getType())));
}

LayoutEncoding amd::operandLayout(tt::DotOpInterface dot, unsigned operand, LayoutEncoding accumulator) {
  if (auto scaled = dyn_cast<tt::DotScaledOp>(dot.getOperation()))
    return operandOfScaled(scaled, operand, accumulator);
  return DotOperandAttr::get(dot->getContext(), operand, accumulator,
                             widthAlongK(cast<tt::DotOp>(dot.getOperation()), tileOf(accumulator)));
}
