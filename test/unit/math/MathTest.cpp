// Checks the f32 math functions against libm's f64, at several widths and for every instruction set of this machine.
// SPDX-License-Identifier: MIT

#include "MathJit.h"
#include "Ulp.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace nereid::math::testing {
namespace {

constexpr unsigned widths[] = {1, 3, 4, 8, 16, 32};

/// Every `step`th f32 by its bits, so that all exponents and both signs occur; step is odd.
std::vector<float> sampleFloats(uint32_t step, unsigned lanes) {
  std::vector<float> samples;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += step)
    samples.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  samples.resize(samples.size() / lanes * lanes);
  return samples;
}

/// Numbers where a function changes its behaviour, with their neighbours, each with both signs.
std::vector<float> specialFloats(unsigned lanes) {
  const float landmarks[] = {0.0f, 0x1p-149f, 0x1p-126f, 0x1p-24f, 0.25f, 0.34657359f, 0.41421356f, 0.5f, 0.70710678f,
                             1.0f, 1.41421356f, 1.57079633f, 2.0f, 3.14159265f, 3.95f, 4.0f, 9.1f, 16.0f, 17.5f, 20.0f,
                             87.3365447f, 88.0f, 88.7228394f, 89.0f, 103.972084f, 104.5f, 126.0f, 127.0f, 128.0f,
                             129.0f, 149.0f, 150.0f, 151.0f, 0x1p20f, 0x1p24f, 0x1p64f, 0x1p127f,
                             std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN(),
                             // Close to multiples of pi/2.
                             0x1.7910e4p41f, 0x1.6c9d24p24f, 0x1.f0022ep86f, 0x1.18c89p78f};
  std::vector<float> numbers;
  for (const float landmark : landmarks)
    for (const float near : {std::nextafterf(landmark, 0.0f), landmark, std::nextafterf(landmark, INFINITY)})
      numbers.insert(numbers.end(), {near, -near});
  // NaNs of both signs and all kinds of payload.
  for (const uint32_t bits : {0x7fc00001u, 0x7fffffffu, 0x7f800001u, 0xffc00123u, 0xffffffffu})
    numbers.push_back(std::bit_cast<float>(bits));
  while (numbers.size() % lanes != 0)
    numbers.push_back(1.0f);
  return numbers;
}

std::string describe(const Kernel &kernel) {
  return std::string(kernel.function->name) + " on " + kernel.machine->name +
         ", lanes: " + std::to_string(kernel.lanes);
}

void expectAccurate(const Kernel &kernel, const std::vector<float> &from) {
  llvm::Expected<MathJit> code = MathJit::create(kernel);
  ASSERT_TRUE(static_cast<bool>(code)) << llvm::toString(code.takeError());
  std::vector<float> to(from.size());
  (*code)(from.data(), to.data(), static_cast<int64_t>(from.size()));
  for (size_t i = 0; i < from.size(); ++i) {
    const double exact = kernel.function->reference(from[i]);
    ASSERT_LE(ulpError(to[i], exact), kernel.maxUlp())
        << describe(kernel) << ": f(" << std::hexfloat << from[i] << ") is " << to[i] << ", should be " << exact;
  }
}

TEST(Math, SpecialNumbersAreRightAtEveryWidth) {
  for (const Machine &machine : hostMachines())
    for (const MathFunction &function : mathFunctions())
      for (const unsigned lanes : widths)
        expectAccurate({.function = &function, .machine = &machine, .lanes = lanes}, specialFloats(lanes));
}

TEST(Math, SampledFloatsAreWithinTheBound) {
  for (const Machine &machine : hostMachines())
    for (const MathFunction &function : mathFunctions())
      expectAccurate({.function = &function, .machine = &machine, .lanes = 16}, sampleFloats(8191, 16));
}

TEST(Math, DoublesAreLibm) {
  const double numbers[] = {0.5, -0.25, 3.0, 700.0, -745.0, 1e300, 0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-310};
  for (const MathFunction &function : mathFunctions()) {
    for (const unsigned lanes : {1u, 4u}) {
      llvm::Expected<MathJit> code =
          MathJit::create({.function = &function, .machine = &hostMachines().back(), .lanes = lanes, .isDouble = true});
      ASSERT_TRUE(static_cast<bool>(code)) << llvm::toString(code.takeError());
      double results[std::size(numbers)];
      (*code)(numbers, results, std::size(numbers));
      for (size_t i = 0; i < std::size(numbers); ++i) {
        const double exact = function.reference(numbers[i]);
        EXPECT_TRUE(results[i] == exact || (std::isnan(results[i]) && std::isnan(exact)))
            << function.name << "(" << numbers[i] << ") is " << results[i] << ", should be " << exact;
      }
    }
  }
}

/// A function that returns f(x), emitted by `emit` into its entry block.
llvm::Function *emitFunction(llvm::Module &module, llvm::Type *type,
                             llvm::function_ref<void(llvm::IRBuilder<> &, llvm::Value *)> emit) {
  llvm::Function *function = llvm::Function::Create(llvm::FunctionType::get(type, {type}, false),
                                                    llvm::Function::ExternalLinkage, "f", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  emit(builder, function->getArg(0));
  return function;
}

TEST(Math, FastMathFlagsOfTheBuilderDoNotReachTheCode) {
  for (const MathFunction &function : mathFunctions()) {
    llvm::LLVMContext context;
    llvm::Module module("test", context);
    llvm::Function *emitted =
        emitFunction(module, llvm::Type::getFloatTy(context), [&](llvm::IRBuilder<> &builder, llvm::Value *x) {
          builder.setFastMathFlags(llvm::FastMathFlags::getFast());
          builder.CreateRet(function.emit(builder, x, {.hasFma = true}));
          EXPECT_TRUE(builder.getFastMathFlags().isFast()) << function.name;
        });
    for (const llvm::BasicBlock &block : *emitted)
      for (const llvm::Instruction &instruction : block)
        if (llvm::isa<llvm::FPMathOperator>(instruction))
          EXPECT_FALSE(instruction.getFastMathFlags().any()) << function.name;
  }
}

TEST(Math, EmissionInTheMiddleOfABlockKeepsWhatFollows) {
  for (const MathFunction &function : mathFunctions()) {
    llvm::LLVMContext context;
    llvm::Module module("test", context);
    llvm::Type *type = llvm::FixedVectorType::get(llvm::Type::getFloatTy(context), 4);
    llvm::Function *emitted = emitFunction(module, type, [&](llvm::IRBuilder<> &builder, llvm::Value *x) {
      // entry: branch to `next`, whose phi refers to the basic block that ends with the branch.
      llvm::BasicBlock *entry = builder.GetInsertBlock();
      llvm::BasicBlock *next = llvm::BasicBlock::Create(context, "next", entry->getParent());
      llvm::BranchInst *branch = builder.CreateBr(next);
      builder.SetInsertPoint(next);
      llvm::PHINode *phi = builder.CreatePHI(type, 1);
      phi->addIncoming(x, entry);
      llvm::ReturnInst *end = builder.CreateRet(phi);
      builder.SetInsertPoint(branch);
      llvm::Value *result = function.emit(builder, x, {});
      end->setOperand(0, result);
    });
    EXPECT_FALSE(llvm::verifyFunction(*emitted, &llvm::errs())) << function.name;
  }
}

} // namespace
} // namespace nereid::math::testing
