// Compiles LLVM IR to AMD's assembly.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/codegen/Codegen.h"

#include "compiler/lowering/gpu/GpuCodegen.h"
#include "compiler/lowering/gpu/SpillExcess.h"
#include "compiler/lowering/llvm/LlvmPasses.h"

#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace nereid;

static void initialiseAmdgpu() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const amd::Arch &arch) {
  initialiseAmdgpu();
  static const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string reason;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, reason);
  if (!target)
    return llvm::createStringError(reason);
  return lowering::createGpuMachine(*target, triple, arch.name, "", llvm::CodeGenOptLevel::Aggressive);
}

llvm::Expected<lowering::PooledTargetMachine> amd::targetMachine(const Arch &arch) {
  return lowering::PooledTargetMachine::get(arch.name, [&] { return createMachine(arch); });
}

static constexpr lowering::SpillLimits kSpillLimits = {
    .excess = amd::kExcessRegisters, .perBlock = 128, .copyAddress = "", .copyConstraints = "=s,0"};

namespace {
struct SpillPass : llvm::PassInfoMixin<SpillPass> {
  explicit SpillPass(unsigned &peak) : peak(peak) {}
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
    const llvm::UniformityInfo &uniformity = analyses.getResult<llvm::UniformityInfoAnalysis>(function);
    peak = std::max(peak, lowering::spillExcess(function, &uniformity, kSpillLimits));
    return llvm::PreservedAnalyses::none();
  }
  unsigned &peak;
};
} // namespace

unsigned amd::optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::FunctionPassManager passes = lowering::gpuFunctionPasses();
  unsigned peak = 0;
  passes.addPass(SpillPass(peak));
  lowering::runOnFunctions(module, machine, std::move(passes));
  return peak;
}

/// The number after `key` in the kernel's metadata; 0 where there is none.
static unsigned numberAfter(llvm::StringRef assembly, llvm::StringRef key) {
  unsigned number = 0;
  const size_t at = assembly.rfind(key);
  if (at != llvm::StringRef::npos)
    (void)assembly.substr(at + key.size()).ltrim().consumeInteger(10, number);
  return number;
}

amd::KernelResources amd::resourcesOf(llvm::StringRef assembly) {
  return {.vectorRegisters = numberAfter(assembly, ".vgpr_count:"),
          .scalarRegisters = numberAfter(assembly, ".sgpr_count:"),
          .spilledRegisters = numberAfter(assembly, ".vgpr_spill_count:") + numberAfter(assembly, ".sgpr_spill_count:"),
          .scratchBytes = numberAfter(assembly, ".private_segment_fixed_size:")};
}
