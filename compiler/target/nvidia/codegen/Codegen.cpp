// Compiles LLVM IR to PTX.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/codegen/Codegen.h"

#include "compiler/lowering/gpu/GpuCodegen.h"
#include "compiler/lowering/gpu/SpillExcess.h"
#include "compiler/lowering/llvm/LlvmPasses.h"
#include "compiler/lowering/llvm/PassGate.h"
#include "compiler/target/nvidia/codegen/ScheduleForRegisterPressure.h"
#include "compiler/target/nvidia/codegen/ShareDivisors.h"
#include "compiler/target/nvidia/codegen/ShareLoopInits.h"

#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace nereid;

/// Makes pointers to shared memory 32 bits wide. LLVM has no other interface for this.
static bool useShortPointers() {
  constexpr llvm::StringLiteral name = "nvptx-short-ptr";
  llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup(name);
  return option && !option->addOccurrence(0, name, "true");
}

static void initialiseNvptx() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

static std::string featureOf(unsigned ptxVersion) { return "+ptx" + std::to_string(ptxVersion); }

static const llvm::Triple &nvptx() {
  static const llvm::Triple triple("nvptx64-nvidia-cuda");
  return triple;
}

static llvm::Expected<const llvm::Target *> findTarget() {
  initialiseNvptx();
  static const bool areShort = useShortPointers();
  if (!areShort)
    return llvm::createStringError("LLVM has no short pointers for NVPTX");
  std::string reason;
  if (const llvm::Target *target = llvm::TargetRegistry::lookupTarget(nvptx(), reason))
    return target;
  return llvm::createStringError(reason);
}

std::vector<unsigned> nvidia::ptxVersions() {
  const llvm::Target *target = llvm::cantFail(findTarget());
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(nvptx(), "", ""));
  std::vector<unsigned> versions;
  for (const llvm::SubtargetFeatureKV &feature : subtarget->getAllProcessorFeatures()) {
    llvm::StringRef name = feature.Key;
    unsigned version = 0;
    if (name.consume_front("ptx") && !name.getAsInteger(10, version))
      versions.push_back(version);
  }
  return versions;
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const nvidia::Arch &arch) {
  auto target = findTarget();
  if (!target)
    return target.takeError();
  if (!llvm::is_contained(nvidia::ptxVersions(), arch.ptxVersion)) // of which LLVM only warns
    return llvm::createStringError("LLVM writes no PTX " + llvm::Twine(arch.ptxVersion));
  return lowering::createGpuMachine(**target, nvptx(), arch.cpu, featureOf(arch.ptxVersion),
                                    llvm::CodeGenOptLevel::Default);
}

llvm::Expected<lowering::PooledTargetMachine> nvidia::targetMachine(const Arch &arch) {
  return lowering::PooledTargetMachine::get(arch.cpu + featureOf(arch.ptxVersion), [&] { return createMachine(arch); });
}

/// Far above kExcessRegisters: up to here ptxas spills fewer values by itself.
static constexpr lowering::SpillLimits kSpillLimits = {
    .excess = 1400, .perBlock = 128, .accesses = 16, .copyAddress = "mov.b32 $0, $1;", .copyConstraints = "=r,r"};

nvidia::RegisterDemand nvidia::optimise(llvm::Module &module, llvm::TargetMachine &machine, unsigned crowded) {
  lowering::runOnFunctions(module, machine, lowering::gpuFunctionPasses());
  for (llvm::Function &function : module)
    shareDivisors(function);
  RegisterDemand demand;
  for (llvm::Function &function : module)
    demand.straightLine = std::max(demand.straightLine, scheduleForRegisterPressure(function, crowded));
  for (llvm::Function &function : module)
    shareLoopInits(function);
  for (llvm::Function &function : module)
    demand.ofBlocks = std::max(demand.ofBlocks, lowering::spillExcess(function, /*uniformity=*/nullptr, kSpillLimits));
  return demand;
}

// nary-reassociate finds nothing: emitted addresses share their bases already. slsr compares every pair of values,
// which large modules cannot afford (docs/why/compile-time.md).
static constexpr llvm::StringLiteral kSkippedPasses[] = {"nary-reassociate", "slsr"};
static constexpr unsigned kLargeInstructions = 4000;

static void gatePasses(llvm::Module &module) {
  const auto all = llvm::ArrayRef(kSkippedPasses);
  static lowering::PassGate gate(all.drop_back()), gateOfLarge(all);
  module.getContext().setOptPassGate(module.getInstructionCount() > kLargeInstructions ? gateOfLarge : gate);
}

llvm::Expected<std::string> nvidia::emitPtx(llvm::Module &module, llvm::TargetMachine &machine) {
  gatePasses(module);
  return lowering::emitGpuAssembly(module, machine);
}
