// Emits calls of library functions and inline assembly on lanes: one vector call where vector code exists, else lane by
// lane.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/LaneEmitter.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/ExternForms.h"
#include "compiler/lowering/asm/InlineAsm.h"
#include "compiler/lowering/llvm/BitcodeLibrary.h"
#include "compiler/target/cpu/emit/CLibrary.h"
#include "compiler/target/cpu/emit/Diagnostics.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

static unsigned lanesOf(ArrayRef<llvm::Value *> values) {
  for (llvm::Value *value : values)
    if (auto *vector = dyn_cast<llvm::FixedVectorType>(value->getType()))
      return vector->getNumElements();
  return 1;
}

static llvm::Value *lane(llvm::IRBuilder<> &ir, llvm::Value *value, unsigned index) {
  return value->getType()->isVectorTy() ? ir.CreateExtractElement(value, uint64_t{index}) : value;
}

llvm::Value *LaneEmitter::externOp(tt::ExternElementwiseOp op, ArrayRef<llvm::Value *> in) {
  const llvm::StringRef symbol = op.getSymbol();
  llvm::Type *element = typeOf(tt::elementOf(op.getType()), 1);
  if (llvm::Value *inlined = lowering::emitExtern(ir, symbol, in, math))
    if (inlined->getType()->getScalarType() == element)
      return inlined;
  llvm::Function *function = declareLibraryFunction(*ir.GetInsertBlock()->getModule(), symbol);
  if (!function || !lowering::accepts(*function, in, element)) {
    tt::report(op.getLoc(), diag::ExternUnknown, symbol);
    return nullptr;
  }
  const unsigned lanes = lanesOf(in);
  if (lanes > 1)
    tt::report(op.getLoc(), diag::ExternScalar, symbol);
  SmallVector<llvm::Value *> results;
  for (unsigned index = 0; index < lanes; ++index) {
    SmallVector<llvm::Value *, 4> args;
    for (llvm::Value *value : in)
      args.push_back(lane(ir, value, index));
    results.push_back(ir.CreateCall(function, args));
  }
  return joinLanes(results);
}

llvm::Value *LaneEmitter::joinLanes(ArrayRef<llvm::Value *> elements) {
  if (elements.size() == 1)
    return elements.front();
  llvm::Value *vector =
      llvm::PoisonValue::get(llvm::FixedVectorType::get(elements.front()->getType(), elements.size()));
  for (auto [index, element] : llvm::enumerate(elements))
    vector = ir.CreateInsertElement(vector, element, uint64_t{index});
  return vector;
}

llvm::SmallVector<llvm::Value *, 2> LaneEmitter::inlineAsm(tt::ElementwiseInlineAsmOp op, ArrayRef<llvm::Value *> in) {
  asmLocations.push_back(op.getLoc());
  const unsigned lanes = lanesOf(in), pack = op.getPackedElement();
  SmallVector<SmallVector<llvm::Value *>> results(op.getNumResults());
  for (unsigned first = 0; first < lanes; first += pack) {
    SmallVector<lowering::Elements, 4> operands;
    for (llvm::Value *value : in) { // the last lane fills the lanes past the end
      operands.emplace_back();
      for (unsigned index = first; index < first + pack; ++index)
        operands.back().push_back(lane(ir, value, std::min(index, lanes - 1)));
    }
    auto parts =
        lowering::emitInlineAsm(ir, op, operands, [&](Type type) { return typeOf(type, 1); }, asmLocations.size());
    if (parts.empty())
      return {};
    for (auto [result, part] : llvm::zip_equal(results, parts))
      for (unsigned index = 0; index < pack && result.size() < lanes; ++index)
        result.push_back(part[index]);
  }
  SmallVector<llvm::Value *, 2> joined;
  for (ArrayRef<llvm::Value *> result : results)
    joined.push_back(joinLanes(result));
  return joined;
}
