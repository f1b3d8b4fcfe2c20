// Divides by the same number several times with one reciprocal.
// SPDX-License-Identifier: MIT
//
// ptxas expands each div.full.f32 to a / b = (a * s) * (1 / (b * s)), where s keeps the reciprocal of a very large or a
// subnormal b normal, and merges what the divisions of a row have in common late. Here they share s and the reciprocal
// from the start: two multiplications per element remain of four instructions.
#include "compiler/target/nvidia/codegen/ShareDivisors.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

/// With fewer divisions the shared part costs more than it saves.
static constexpr unsigned kFewestDivisions = 3;

static void divideByReciprocal(Value *divisor, ArrayRef<IntrinsicInst *> divisions) {
  IRBuilder<> ir(divisions.front());
  auto number = [&](double value) { return ConstantFP::get(ir.getFloatTy(), value); };
  Value *magnitude = ir.CreateUnaryIntrinsic(Intrinsic::fabs, divisor);
  Value *scale = ir.CreateSelect(ir.CreateFCmpOLT(magnitude, number(0x1p-126)), number(0x1p24), number(1));
  scale = ir.CreateSelect(ir.CreateFCmpOGT(magnitude, number(0x1p126)), number(0x1p-2), scale);
  Value *reciprocal = ir.CreateIntrinsic(Intrinsic::nvvm_rcp_approx_ftz_f, {}, {ir.CreateFMul(divisor, scale)});
  for (IntrinsicInst *division : divisions) {
    ir.SetInsertPoint(division);
    Value *quotient = ir.CreateFMul(ir.CreateFMul(division->getArgOperand(0), scale), reciprocal);
    division->replaceAllUsesWith(quotient);
    division->eraseFromParent();
  }
}

static void shareDivisorsIn(BasicBlock &block) {
  MapVector<Value *, SmallVector<IntrinsicInst *>> divisionsBy;
  for (Instruction &instruction : block)
    if (auto *division = dyn_cast<IntrinsicInst>(&instruction);
        division && division->getIntrinsicID() == Intrinsic::nvvm_div_full)
      divisionsBy[division->getArgOperand(1)].push_back(division);
  for (auto &[divisor, divisions] : divisionsBy)
    if (divisions.size() >= kFewestDivisions)
      divideByReciprocal(divisor, divisions);
}

void nereid::nvidia::shareDivisors(Function &function) {
  for (BasicBlock &block : function)
    shareDivisorsIn(block);
}
