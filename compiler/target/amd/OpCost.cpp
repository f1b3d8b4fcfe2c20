// Costs of dots by mfma and wmma.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/OpCost.h"

#include "compiler/target/amd/dialect/MatrixInstruction.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::amd;
using explain::Unit;

/// Multiplications of a multiprocessor in a cycle.
static unsigned productsOf(const Arch &arch, MatrixKind kind) {
  switch (kind) {
  case MatrixKind::F16:
  case MatrixKind::BF16:
    return arch.matrixF16;
  case MatrixKind::F32:
    return arch.matrixF32;
  case MatrixKind::F64:
    return arch.matrixF64;
  case MatrixKind::XF32:
    return arch.matrixF16 / 2;
  case MatrixKind::Int8:
    return arch.matrixF16 * (arch.hasWideInt8 || arch.matrixUnit == MatrixUnit::Wmma ? 2 : 1);
  case MatrixKind::Fp8:
  case MatrixKind::Mx:
    return arch.matrixF16 * 2;
  }
  llvm_unreachable("all kinds are listed");
}

/// Rows or columns that an instruction multiplies beyond those of the dot.
static uint64_t filled(int64_t extent, unsigned ofInstruction) {
  return llvm::divideCeil(uint64_t(extent), ofInstruction) * ofInstruction;
}

lowering::OpCost OpCosts::ofDot(tt::DotOpInterface dot) const {
  auto result = cast<RankedTensorType>(dot.getD().getType());
  const uint64_t products = result.getNumElements() * depthOf(dot);
  const std::optional<MatrixKind> kind = matrixKindOf(dot, arch);
  if (!ttg::isMatrixInstruction(result.getEncoding()) || !kind)
    return {Unit::Alu, products / arch.fma, "dot by FMA"};
  auto mfma = dyn_cast<ttg::AmdMfmaAttr>(result.getEncoding());
  const unsigned extent = mfma ? mfma.getTile().extent : cast<ttg::AmdWmmaAttr>(result.getEncoding()).getTile().extent;
  const ArrayRef<int64_t> shape = result.getShape().take_back(2);
  const uint64_t issued = products / (shape[0] * shape[1]) * filled(shape[0], extent) * filled(shape[1], extent);
  return {Unit::TensorCores, issued / std::max(productsOf(arch, *kind), 1u), "dot"};
}
