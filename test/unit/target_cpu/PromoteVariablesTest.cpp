// Tests that variables become values and phis, in time proportional to the code in which they live.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/codegen/PromoteVariables.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <ctime>

using namespace llvm;

namespace nereid::cpu {
namespace {

std::string promoted(const char *text) {
  LLVMContext context;
  SMDiagnostic error;
  const std::unique_ptr<Module> module = parseAssemblyString(text, error, context);
  EXPECT_TRUE(module) << error.getMessage().str();
  std::string result;
  if (!module)
    return result;
  Function &function = *module->getFunction("f");
  promoteVariables(function);
  EXPECT_FALSE(verifyModule(*module, &errs()));
  raw_string_ostream stream(result);
  for (const Instruction &instruction : instructions(function))
    stream << instruction << "\n";
  return result;
}

TEST(PromoteVariables, OfALoop) {
  EXPECT_EQ(promoted(R"(
define i32 @f(i32 %n) {
entry:
  %sum = alloca i32
  store i32 7, ptr %sum
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %old = load i32, ptr %sum
  %again = load i32, ptr %sum
  %double = add i32 %old, %again
  store i32 %double, ptr %sum
  %new = load i32, ptr %sum
  %next = add i32 %i, %new
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %result = load i32, ptr %sum
  ret i32 %result
})"),
            R"(  br label %loop
  %sum1 = phi i32 [ 7, %entry ], [ %double, %loop ]
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %double = add i32 %sum1, %sum1
  %next = add i32 %i, %double
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
  ret i32 %double
)");
}

TEST(PromoteVariables, ThatHoldOneAnother) {
  EXPECT_EQ(promoted(R"(
define i32 @f(i1 %c, i32 %x) {
entry:
  %a = alloca i32
  %b = alloca i32
  store i32 %x, ptr %a
  br label %first
first:
  %of.a = load i32, ptr %a
  store i32 %of.a, ptr %b
  br label %second
second:
  %of.b = load i32, ptr %b
  store i32 %of.b, ptr %a
  br label %third
third:
  %result = load i32, ptr %a
  ret i32 %result
})"),
            R"(  br label %first
  br label %second
  br label %third
  ret i32 %x
)");
}

TEST(PromoteVariables, UndefinedOnOnePath) {
  const std::string text = promoted(R"(
define i32 @f(i1 %c, i32 %x) {
entry:
  %a = alloca i32
  br i1 %c, label %then, label %done
then:
  store i32 %x, ptr %a
  br label %done
done:
  %result = load i32, ptr %a
  ret i32 %result
})");
  EXPECT_NE(text.find("phi i32 [ %x, %then ], [ undef, %entry ]"), std::string::npos) << text;
}

TEST(PromoteVariables, WithAnAddressStay) {
  const std::string text = promoted(R"(
declare void @g(ptr)
define i32 @f() {
  %a = alloca i32
  call void @g(ptr %a)
  %result = load i32, ptr %a
  ret i32 %result
})");
  EXPECT_NE(text.find("alloca"), std::string::npos);
}

/// Loops one after another, each with a variable of its own that is dead after it.
void addLoops(Function &function, unsigned count) {
  BasicBlock *entry = BasicBlock::Create(function.getContext(), "entry", &function);
  IRBuilder<> ir(BasicBlock::Create(function.getContext(), "first", &function)), start(entry);
  BasicBlock *first = ir.GetInsertBlock();
  for (unsigned i = 0; i < count; ++i) {
    Value *variable = start.CreateAlloca(ir.getInt32Ty());
    ir.CreateStore(ir.getInt32(i), variable);
    BasicBlock *loop = BasicBlock::Create(function.getContext(), "loop", &function);
    BasicBlock *after = BasicBlock::Create(function.getContext(), "after", &function);
    ir.CreateBr(loop);
    ir.SetInsertPoint(loop);
    Value *next = ir.CreateAdd(ir.CreateLoad(ir.getInt32Ty(), variable), function.getArg(0));
    ir.CreateStore(next, variable);
    ir.CreateCondBr(ir.CreateICmpSLT(next, ir.getInt32(100)), loop, after);
    ir.SetInsertPoint(after);
  }
  ir.CreateRetVoid();
  start.CreateBr(first);
}

TEST(PromoteVariables, TimeIsLinearInTheFunction) {
  LLVMContext context;
  Module module("test", context);
  auto *type = FunctionType::get(Type::getVoidTy(context), {Type::getInt32Ty(context)}, false);
  auto *function = Function::Create(type, Function::ExternalLinkage, "f", module);
  addLoops(*function, 10'000);
  const std::clock_t start = std::clock();
  EXPECT_EQ(promoteVariables(*function), 10'000u);
  EXPECT_LT(double(std::clock() - start) / CLOCKS_PER_SEC, 2); // SROA takes half a minute
  EXPECT_FALSE(verifyModule(module, &errs()));
  for (const Instruction &instruction : instructions(*function))
    EXPECT_FALSE(isa<AllocaInst>(instruction));
}

} // namespace
} // namespace nereid::cpu
