// Builds, optimises and loads a loop around one math function.
// SPDX-License-Identifier: MIT

#include "MathJit.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <cassert>
#include <cmath>
#include <vector>

namespace nereid::math::testing {

static double inverseRoot(double x) { return 1 / std::sqrt(x); }
static long double wideInverseRoot(long double x) { return 1 / std::sqrt(x); }

llvm::ArrayRef<MathFunction> mathFunctions() {
  static const MathFunction functions[] = {
      {"exp", emitExp, std::exp, 1, 2, std::exp, 1},
      {"exp2", emitExp2, std::exp2, 1, 2, std::exp2, 1},
      {"expm1", emitExpm1, std::expm1, 2, 2, std::expm1, 2},
      {"log", emitLog, std::log, 1, 2, std::log, 1.25},
      {"log2", emitLog2, std::log2, 1.25, 2, std::log2, 1.25},
      {"log1p", emitLog1p, std::log1p, 2, 2, std::log1p, 2},
      {"sin", emitSin, std::sin, 2, 2, std::sin, 1.5},
      {"cos", emitCos, std::cos, 2, 2, std::cos, 1.5},
      {"erf", emitErf, std::erf, 2, 2, std::erf, 2},
      {"tanh", emitTanh, std::tanh, 2, 2, std::tanh, 2},
      {"sqrt", emitSqrt, std::sqrt, 0.5001, 0.5001, std::sqrt, 0.5001},
      {"rsqrt", emitRsqrt, inverseRoot, 1.5, 1.5, wideInverseRoot, 1.5},
  };
  return functions;
}

llvm::ArrayRef<Machine> hostMachines() {
  static const Machine all[] = {
      {"sse2", "+sse2", {}},
      {"avx2", "+avx2,+fma", {.hasFma = true}},
      {"avx512",
       "+avx2,+fma,+avx512f,+avx512vl,+avx512dq,+avx512bw,-prefer-256-bit",
       {.hasFma = true, .hasAvx512 = true}},
  };
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (!features.lookup("avx2") || !features.lookup("fma"))
    return llvm::ArrayRef(all, 1);
  return llvm::ArrayRef(all, features.lookup("avx512vl") && features.lookup("avx512dq") ? 3 : 2);
}

static void emitLoop(llvm::Function &function, const Kernel &kernel) {
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(function.getContext(), "entry", &function));
  llvm::Type *element = kernel.isDouble ? builder.getDoubleTy() : builder.getFloatTy();
  llvm::Type *chunk = kernel.lanes == 1 ? element : llvm::FixedVectorType::get(element, kernel.lanes);
  llvm::BasicBlock *body = llvm::BasicBlock::Create(function.getContext(), "body", &function);
  llvm::BasicBlock *end = llvm::BasicBlock::Create(function.getContext(), "end", &function);
  llvm::BasicBlock *entry = builder.GetInsertBlock();
  builder.CreateBr(body);

  builder.SetInsertPoint(body);
  llvm::PHINode *index = builder.CreatePHI(builder.getInt64Ty(), 2);
  const llvm::Align align(kernel.isDouble ? 8 : 4);
  llvm::Value *from = builder.CreateGEP(element, function.getArg(0), index);
  llvm::Value *to = builder.CreateGEP(element, function.getArg(1), index);
  llvm::Value *x = builder.CreateAlignedLoad(chunk, from, align);
  builder.CreateAlignedStore(kernel.function->emit(builder, x, kernel.machine->math), to, align);
  llvm::Value *next = builder.CreateAdd(index, builder.getInt64(kernel.lanes));
  index->addIncoming(builder.getInt64(0), entry);
  index->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpSLT(next, function.getArg(2)), body, end);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
}

static void optimise(llvm::Module &module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(callGraph);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, callGraph, modules);
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

std::unique_ptr<llvm::Module> buildModule(llvm::LLVMContext &context, const Kernel &kernel) {
  auto module = std::make_unique<llvm::Module>(kernel.function->name, context);
  module->setTargetTriple(llvm::Triple(llvm::sys::getProcessTriple()));
  llvm::Type *pointer = llvm::PointerType::getUnqual(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer, pointer, llvm::Type::getInt64Ty(context)}, false);
  llvm::Function *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "apply", *module);
  function->addFnAttr("target-cpu", "x86-64");
  function->addFnAttr("target-features", kernel.machine->features);
  function->addParamAttr(0, llvm::Attribute::NoAlias);
  function->addParamAttr(1, llvm::Attribute::NoAlias);
  emitLoop(*function, kernel);
  assert(!llvm::verifyModule(*module, &llvm::errs()) && "the emitted module is invalid");
  optimise(*module);
  return module;
}

llvm::Expected<MathJit> MathJit::create(const Kernel &kernel) {
  static const bool isReady = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  assert(isReady && "no native target");
  llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = buildModule(*context, kernel);
  module->setDataLayout((*jit)->getDataLayout());
  llvm::orc::ThreadSafeModule safe(std::move(module), std::move(context));
  if (llvm::Error error = (*jit)->addIRModule(std::move(safe)))
    return error;
  llvm::Expected<llvm::orc::ExecutorAddr> address = (*jit)->lookup("apply");
  if (!address)
    return address.takeError();
  return MathJit(std::move(*jit), address->toPtr<Apply>());
}

MathJit::MathJit(std::unique_ptr<llvm::orc::LLJIT> jit, Apply apply) : jit(std::move(jit)), apply(apply) {}
MathJit::MathJit(MathJit &&) = default;
MathJit::~MathJit() = default;

} // namespace nereid::math::testing
