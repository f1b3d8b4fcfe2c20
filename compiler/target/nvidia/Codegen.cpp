// LLVM IR to PTX.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/Codegen.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <map>
#include <mutex>

using namespace nereid;

static void initialiseNvptx() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const nvidia::Arch &arch) {
  initialiseNvptx();
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string whyNot;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, whyNot);
  if (!target)
    return llvm::createStringError(whyNot);
  llvm::TargetOptions options;
  // Where a product and a sum may become fma they say so themselves.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, arch.cpu, "+ptx" + std::to_string(arch.ptxVersion), options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Default));
  if (!machine)
    return llvm::createStringError(std::string("no code generator for `") + arch.cpu + "`");
  return machine;
}

namespace {
/// Code generators that no compilation uses, by capability. Threads of compilations come and go: it is for all.
class MachinePool {
public:
  std::unique_ptr<llvm::TargetMachine> take(unsigned capability) {
    const std::lock_guard lock(guard);
    auto found = idle.find(capability);
    if (found == idle.end())
      return nullptr;
    auto machine = std::move(found->second);
    idle.erase(found);
    return machine;
  }
  void put(unsigned capability, std::unique_ptr<llvm::TargetMachine> machine) {
    const std::lock_guard lock(guard);
    idle.emplace(capability, std::move(machine));
  }

private:
  std::mutex guard;
  std::multimap<unsigned, std::unique_ptr<llvm::TargetMachine>> idle;
};
} // namespace

static MachinePool &machinePool() {
  static MachinePool &pool = *new MachinePool; // threads may still compile when the process ends
  return pool;
}

nvidia::MachineLease::MachineLease(unsigned capability, std::unique_ptr<llvm::TargetMachine> machine)
    : capability(capability), machine(std::move(machine)) {}

llvm::Expected<nvidia::MachineLease> nvidia::MachineLease::get(const Arch &arch) {
  if (auto machine = machinePool().take(arch.capability))
    return MachineLease(arch.capability, std::move(machine));
  auto made = createMachine(arch);
  if (!made)
    return made.takeError();
  return MachineLease(arch.capability, std::move(*made));
}

nvidia::MachineLease::~MachineLease() {
  if (machine)
    machinePool().put(capability, std::move(machine));
}

void nvidia::optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass());
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, functions);
}

llvm::Expected<std::string> nvidia::emitPtx(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile, /*DisableVerify=*/true))
    return llvm::createStringError("LLVM makes no PTX");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}
