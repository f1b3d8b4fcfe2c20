// Maps element types to matrix instructions.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/dialect/MatrixInstruction.h"

#include "compiler/dialect/tt/Elements.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::amd;

bool amd::computesWith(Fp8Format format, Type element) {
  switch (format) {
  case Fp8Format::None:
    return false;
  case Fp8Format::Fnuz:
    return tt::isFnuzFp8(element);
  case Fp8Format::Ocp:
    return tt::isOcpFp8(element);
  }
  llvm_unreachable("all formats are listed");
}

static std::optional<MatrixKind> kindOfSingle(tt::InputPrecision precision, const Arch &arch) {
  if (arch.matrixUnit != MatrixUnit::Mfma)
    return std::nullopt;
  return precision == tt::InputPrecision::TF32 && arch.hasXf32 ? MatrixKind::XF32 : MatrixKind::F32;
}

static std::optional<MatrixKind> kindOf(tt::DotOp dot, const Arch &arch) {
  const Type left = tt::elementOf(dot.getA().getType()), right = tt::elementOf(dot.getB().getType());
  if (arch.matrixUnit == MatrixUnit::None)
    return std::nullopt;
  if (left.isInteger(8))
    return MatrixKind::Int8;
  if (!isa<FloatType>(left))
    return std::nullopt;
  if (left.isF64())
    return arch.hasF64Matrix ? std::optional(MatrixKind::F64) : std::nullopt;
  if (left.isF32())
    return kindOfSingle(dot.getInputPrecision(), arch);
  if (computesWith(arch.fp8, left) && computesWith(arch.fp8, right))
    return MatrixKind::Fp8;
  return left.isBF16() ? MatrixKind::BF16 : MatrixKind::F16;
}

std::optional<MatrixKind> amd::matrixKindOf(tt::DotOpInterface dot, const Arch &arch) {
  if (auto scaled = dyn_cast<tt::DotScaledOp>(dot.getOperation()))
    return arch.hasScaledMatrix && scaled.isMicroscaled() ? std::optional(MatrixKind::Mx) : std::nullopt;
  auto plain = dyn_cast<tt::DotOp>(dot.getOperation());
  return plain ? kindOf(plain, arch) : std::nullopt;
}

/// Elements along k of a lane in the mfma of a kind, the deepest one first.
static SmallVector<unsigned, 2> mfmaElements(const Arch &arch, MatrixKind kind) {
  switch (kind) {
  case MatrixKind::F16:
  case MatrixKind::BF16:
    return arch.hasDoubleDepth ? SmallVector<unsigned, 2>{8, 4} : SmallVector<unsigned, 2>{4};
  case MatrixKind::Int8:
    return arch.hasDoubleDepth ? SmallVector<unsigned, 2>{16, 8} : SmallVector<unsigned, 2>{arch.hasWideInt8 ? 8u : 4u};
  case MatrixKind::Fp8:
    return {8};
  case MatrixKind::Mx:
    return {32};
  case MatrixKind::XF32:
    return {2};
  case MatrixKind::F32:
  case MatrixKind::F64:
    return {1};
  }
  llvm_unreachable("all kinds are listed");
}

/// The elements along k of a lane of the mfma that multiplies `asked` of them; of the deepest one where there is none.
static unsigned mfmaElements(const Arch &arch, MatrixKind kind, unsigned extent, unsigned asked) {
  const auto known = mfmaElements(arch, kind);
  const unsigned perLane = asked / (arch.waveSize / extent);
  return llvm::is_contained(known, perLane) ? perLane : known.front();
}

int64_t amd::depthOf(tt::DotOpInterface dot) {
  if (auto scaled = dyn_cast<tt::DotScaledOp>(dot.getOperation()))
    return scaled.getDepth();
  return tt::shapeOf(dot.getA().getType()).back();
}

std::optional<MatrixInstruction> amd::matrixInstruction(const Arch &arch, MatrixKind kind, unsigned extent,
                                                        int64_t depth, unsigned asked) {
  if (kind == MatrixKind::Fp8 && arch.hasScaledMatrix)
    if (auto deeper = matrixInstruction(arch, MatrixKind::Mx, extent, depth);
        deeper && (asked ? deeper->depth == asked : deeper->depth <= depth))
      return deeper;
  MatrixInstruction instruction = {.kind = kind, .extent = extent};
  const bool isWmma = arch.matrixUnit != MatrixUnit::Mfma;
  if (extent != 16 && (isWmma || kind == MatrixKind::F64))
    return std::nullopt;
  // RDNA3's lanes hold all of k, RDNA4's half of it.
  instruction.perLane = arch.matrixUnit == MatrixUnit::WmmaReplicated ? 16
                        : isWmma                                      ? 8
                                                                      : mfmaElements(arch, kind, extent, asked);
  instruction.depth = isWmma ? 16 : instruction.perLane * (arch.waveSize / extent);
  return instruction;
}
