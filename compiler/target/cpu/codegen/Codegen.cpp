// Optimises LLVM IR with a short pipeline and compiles it to an object.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/codegen/Codegen.h"

#include "compiler/lowering/llvm/LlvmPasses.h"
#include "compiler/target/cpu/codegen/OutlineParts.h"
#include "compiler/target/cpu/codegen/PromoteVariables.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <mutex>

using namespace nereid;

static void initialiseX86() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> cpu::createMachine(const support::TargetSpec &spec) {
  initialiseX86();
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string reason;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, reason);
  if (!target)
    return llvm::createStringError(reason);
  llvm::TargetOptions options;
  options.UseInitArray = true; // glibc runs no others
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(triple, spec.arch, spec.features, options,
                                                                           llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                           llvm::CodeGenOptLevel::Default));
  if (!machine)
    return llvm::createStringError("no code generator for `" + spec.arch + "`");
  return machine;
}

/// Replaces a masked store whose constant mask has one lane by a store of that lane. LLVM 22 does so itself during
/// instruction selection, but after the value's truncation has become part of the store, and then stores the wide lane.
static void unmaskSingleLanes(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *store = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!store || store->getIntrinsicID() != llvm::Intrinsic::masked_store)
      continue;
    auto *mask = llvm::dyn_cast<llvm::Constant>(store->getArgOperand(2));
    if (!mask)
      continue;
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
    llvm::SmallVector<unsigned> set;
    for (unsigned lane = 0; lane < lanes; ++lane)
      if (llvm::Constant *bit = mask->getAggregateElement(lane); !bit || !bit->isNullValue())
        set.push_back(lane);
    if (set.size() != 1)
      continue;
    llvm::IRBuilder<> ir(store);
    llvm::Value *element = ir.CreateExtractElement(store->getArgOperand(0), uint64_t(set.front()));
    llvm::Value *address = ir.CreateConstGEP1_64(element->getType(), store->getArgOperand(1), set.front());
    ir.CreateAlignedStore(element, address, llvm::Align(1));
    store->eraseFromParent();
  }
}

/// Splits huge functions once variables are values, which parts can pass on in registers.
static void splitHugeFunctions(llvm::Module &module, llvm::TargetMachine &machine) {
  for (llvm::Function &function : module)
    if (cpu::isHuge(function))
      cpu::promoteVariables(function);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass()); // no block is unreachable
  lowering::runOnFunctions(module, machine, std::move(passes));
  cpu::outlineParts(module);
}

void cpu::optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  if (hasHugeFunction(module))
    splitHugeFunctions(module, machine);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG)); // accumulators become phis
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  lowering::runOnFunctions(module, machine, std::move(passes));
  for (llvm::Function &function : module)
    unmaskSingleLanes(function);
}

/// Masks and tests for overlaps of an unrolled loop are selected in cubic time: their flags stand in one register.
static constexpr unsigned kLargestBlock = 1000;

llvm::Expected<std::vector<char>> cpu::emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> bytes;
  if (auto error = lowering::emitFile(module, machine, llvm::CodeGenFileType::ObjectFile, bytes, kLargestBlock))
    return error;
  return std::vector<char>(bytes.begin(), bytes.end());
}

llvm::Expected<std::string> cpu::emitAssembly(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> bytes;
  if (auto error = lowering::emitFile(module, machine, llvm::CodeGenFileType::AssemblyFile, bytes, kLargestBlock))
    return error;
  return std::string(bytes.begin(), bytes.end());
}
