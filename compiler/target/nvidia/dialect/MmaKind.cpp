// Maps element types and input precisions to kinds of matrix instructions.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/dialect/MmaKind.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttng;

static std::optional<MmaKind> kindOfSingle(tt::InputPrecision precision) {
  switch (precision) {
  case tt::InputPrecision::TF32:
  case tt::InputPrecision::TF32x3:
    return MmaKind::TF32;
  case tt::InputPrecision::BF16x3:
  case tt::InputPrecision::BF16x6:
    return MmaKind::BF16;
  case tt::InputPrecision::IEEE:
    return std::nullopt;
  }
  llvm_unreachable("all precisions are listed");
}

std::optional<MmaKind> ttng::mmaKindOf(tt::DotOp dot) {
  Type element = tt::elementOf(dot.getA().getType());
  if (element.isInteger(8))
    return MmaKind::Int8;
  auto type = dyn_cast<FloatType>(element);
  if (!type)
    return std::nullopt;
  if (type.isF64())
    return MmaKind::F64;
  if (type.isF32())
    return kindOfSingle(dot.getInputPrecision());
  return type.isBF16() ? MmaKind::BF16 : MmaKind::F16;
}

unsigned ttng::runAlongK(MmaKind kind) {
  switch (kind) {
  case MmaKind::F16:
  case MmaKind::BF16:
    return 2;
  case MmaKind::Int8:
    return 4;
  case MmaKind::TF32:
  case MmaKind::F64:
    return 1;
  }
  llvm_unreachable("all kinds are listed");
}
