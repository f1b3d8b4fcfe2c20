// Maps element types and input precisions to kinds of matrix instructions.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/MatrixKind.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

static std::optional<MatrixKind> kindOfSingle(tt::InputPrecision precision) {
  switch (precision) {
  case tt::InputPrecision::TF32:
  case tt::InputPrecision::TF32x3:
    return MatrixKind::TF32;
  case tt::InputPrecision::BF16x3:
  case tt::InputPrecision::BF16x6:
    return MatrixKind::BF16;
  case tt::InputPrecision::IEEE:
    return std::nullopt;
  }
  llvm_unreachable("all precisions are listed");
}

std::optional<MatrixKind> ttg::matrixKindOf(tt::DotOp dot) {
  Type element = tt::elementOf(dot.getA().getType());
  if (element.isInteger(8))
    return MatrixKind::Int8;
  auto type = dyn_cast<FloatType>(element);
  if (!type)
    return std::nullopt;
  if (type.isF64())
    return MatrixKind::F64;
  if (type.isF32())
    return kindOfSingle(dot.getInputPrecision());
  return type.isBF16() ? MatrixKind::BF16 : MatrixKind::F16;
}

unsigned ttg::runAlongK(MatrixKind kind) {
  switch (kind) {
  case MatrixKind::F16:
  case MatrixKind::BF16:
    return 2;
  case MatrixKind::Int8:
    return 4;
  case MatrixKind::TF32:
  case MatrixKind::F64:
    return 1;
  }
  llvm_unreachable("all kinds are listed");
}
