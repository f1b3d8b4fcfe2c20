// Sets up LLVM's pass managers and code generator.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/llvm/LlvmPasses.h"

#include "compiler/lowering/llvm/SplitBlocks.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;

namespace {
/// The analyses that passes ask for, all of LLVM's.
struct Analyses {
  explicit Analyses(llvm::TargetMachine &machine) : builder(&machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};
} // namespace

void lowering::runOnFunctions(llvm::Module &module, llvm::TargetMachine &machine, llvm::FunctionPassManager passes) {
  Analyses analyses(machine);
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, analyses.functions);
}

llvm::Error lowering::runModulePass(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef name) {
  Analyses analyses(machine);
  llvm::ModulePassManager passes;
  if (llvm::Error error = analyses.builder.parsePassPipeline(passes, name))
    return error;
  passes.run(module, analyses.modules);
  return llvm::Error::success();
}

namespace {
/// Adds a pass to LLVM's fixed pipeline, which the target machine hands over pass by pass.
class CodeGenPasses : public llvm::legacy::PassManager {
public:
  explicit CodeGenPasses(std::optional<unsigned> largestBlock) : largestBlock(largestBlock) {}
  void add(llvm::Pass *pass) override {
    const llvm::PassInfo *info = llvm::Pass::lookupPassInfo(pass->getPassID());
    const bool mergesBlocks = info && info->getPassArgument() == "codegenprepare";
    llvm::legacy::PassManager::add(pass);
    if (mergesBlocks && largestBlock) // the last such pass before instruction selection
      llvm::legacy::PassManager::add(lowering::createSplitBlocksPass(*largestBlock));
  }

private:
  std::optional<unsigned> largestBlock;
};
} // namespace

llvm::Error lowering::emitFile(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                               llvm::SmallVectorImpl<char> &bytes, std::optional<unsigned> largestBlock) {
  llvm::raw_svector_ostream stream(bytes);
  CodeGenPasses passes(largestBlock);
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
    return llvm::createStringError("this target makes no such file");
  passes.run(module);
  return llvm::Error::success();
}
