// Scalar and vector arithmetic, and the per-lane libm calls that f64 uses where there is a libm.
// SPDX-License-Identifier: MIT

#include "compiler/math/Lanes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

#include <cassert>

namespace nereid::math {

static llvm::Type *sameShape(llvm::Type *element, llvm::Type *like) {
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(like))
    return llvm::FixedVectorType::get(element, vector->getNumElements());
  return element;
}

Lanes::Lanes(llvm::IRBuilderBase &builder, llvm::Value *like, const HostMath &host)
    : ir(builder), guard(builder), hostMath(host), isWideLanes(like->getType()->getScalarType()->isDoubleTy()),
      realLanes(like->getType()),
      intLanes(sameShape(isWideLanes ? builder.getInt64Ty() : builder.getInt32Ty(), realLanes)) {
  assert((isWideLanes ? host.hasFma : realLanes->getScalarType()->isFloatTy()) &&
         "inline math is for lanes of f32, and of f64 with FMA");
  ir.clearFastMathFlags();
  ir.setDefaultFPMathTag(nullptr);
}

llvm::Type *Lanes::withElement(llvm::Type *element) const { return sameShape(element, realLanes); }

llvm::Constant *Lanes::real(double value) const { return llvm::ConstantFP::get(realLanes, value); }

llvm::Constant *Lanes::integer(uint64_t value) const { return llvm::ConstantInt::get(intLanes, value); }

llvm::Value *Lanes::mulAdd(llvm::Value *a, llvm::Value *b, llvm::Value *c) const {
  if (hostMath.hasFma)
    return ir.CreateIntrinsic(llvm::Intrinsic::fma, {realLanes}, {a, b, c});
  return add(mul(a, b), c);
}

llvm::Value *Lanes::polynomial(llvm::Value *x, llvm::ArrayRef<double> coefficients) const {
  llvm::Value *sum = real(coefficients.back());
  for (const double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = mulAdd(sum, x, real(coefficient));
  return sum;
}

llvm::Value *Lanes::polynomial(llvm::Value *x, llvm::Value *square, llvm::ArrayRef<double> coefficients) const {
  // The constant is added last, so that it is rounded once.
  llvm::SmallVector<double> parts[2];
  for (const auto [power, coefficient] : llvm::enumerate(coefficients.drop_front()))
    parts[power % 2].push_back(coefficient);
  llvm::Value *slope = mulAdd(polynomial(square, parts[1]), x, polynomial(square, parts[0]));
  return mulAdd(slope, x, real(coefficients.front()));
}

// The limit is the first operand: `minps` and `maxps` return the second one if either is NaN.
llvm::Value *Lanes::atMost(llvm::Value *x, double limit) const {
  llvm::Constant *bound = real(limit);
  return ir.CreateSelect(ir.CreateFCmpOLT(bound, x), bound, x);
}

llvm::Value *Lanes::atLeast(llvm::Value *x, double limit) const {
  llvm::Constant *bound = real(limit);
  return ir.CreateSelect(ir.CreateFCmpOGT(bound, x), bound, x);
}

llvm::Value *Lanes::signBit(llvm::Value *integers) const {
  return ir.CreateAnd(integers, integer(uint64_t{1} << signPosition()));
}

llvm::Value *Lanes::signOf(llvm::Value *x) const { return signBit(bits(x)); }

llvm::Value *Lanes::magnitude(llvm::Value *x) const { return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }

llvm::Value *Lanes::withSign(llvm::Value *x, llvm::Value *sign) const { return fromBits(ir.CreateOr(bits(x), sign)); }

llvm::Value *emitByRegister(llvm::IRBuilderBase &builder, llvm::ArrayRef<llvm::Value *> operands, unsigned lanes,
                            llvm::function_ref<llvm::Value *(llvm::ArrayRef<llvm::Value *>)> emit) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(operands.front()->getType());
  if (!vector || vector->getNumElements() <= lanes)
    return emit(operands);
  llvm::SmallVector<llvm::Value *> results;
  for (unsigned first = 0; first < vector->getNumElements(); first += lanes) {
    const llvm::SmallVector<int> taken = llvm::to_vector(llvm::seq<int>(first, first + lanes));
    results.push_back(emit(llvm::map_to_vector(
        operands, [&](llvm::Value *operand) { return builder.CreateShuffleVector(operand, taken); })));
  }
  return llvm::concatenateVectors(builder, results);
}

static bool isDouble(const llvm::Value *x) { return x->getType()->getScalarType()->isDoubleTy(); }

bool usesLibm(const llvm::Value *x, const HostMath &host) { return host.hasLibm && isDouble(x); }

static llvm::FunctionCallee declareLibm(llvm::Module &module, llvm::StringRef name) {
  llvm::Type *real = llvm::Type::getDoubleTy(module.getContext());
  llvm::FunctionCallee callee = module.getOrInsertFunction(name, real, real);
  if (auto *function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    function->setDoesNotThrow();
    function->setWillReturn();
    function->setDoesNotAccessMemory();
  }
  return callee;
}

llvm::Value *emitLibmCalls(llvm::IRBuilderBase &builder, const char *name, llvm::Value *x) {
  assert(isDouble(x) && "libm calls are for f64 lanes");
  const llvm::IRBuilderBase::FastMathFlagGuard guard(builder);
  builder.clearFastMathFlags();
  const llvm::FunctionCallee callee = declareLibm(*builder.GetInsertBlock()->getModule(), name);
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (!vector)
    return builder.CreateCall(callee, {x});
  llvm::Value *result = llvm::PoisonValue::get(vector);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    llvm::Value *value = builder.CreateCall(callee, {builder.CreateExtractElement(x, uint64_t{lane})});
    result = builder.CreateInsertElement(result, value, uint64_t{lane});
  }
  return result;
}

} // namespace nereid::math
