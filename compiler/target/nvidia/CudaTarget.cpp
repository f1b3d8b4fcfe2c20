// Runs the phases of the NVIDIA target: ttg, LLVM IR, PTX, cubin.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/CudaTarget.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/Diagnostics.h"
#include "compiler/lowering/TtgToLlvm/TtgModuleEmitter.h"
#include "compiler/lowering/gpu/GpuPlan.h"
#include "compiler/lowering/llvm/LlvmModule.h"
#include "compiler/target/nvidia/Diagnostics.h"
#include "compiler/target/nvidia/Pipeline.h"
#include "compiler/target/nvidia/arch/Occupancy.h"
#include "compiler/target/nvidia/codegen/AssemblyVersion.h"
#include "compiler/target/nvidia/codegen/Clusters.h"
#include "compiler/target/nvidia/codegen/Codegen.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

//--- checks --------------------------------------------------------------------------------

/// PTX ISA, red: vectors require version 8.1.
static constexpr unsigned kVectorAtomicPtx = 81;

static bool makesTensorMaps(ModuleOp module) {
  auto isMap = [](ttng::MakeTensorMapOp) { return WalkResult::interrupt(); };
  return module.walk(isMap).wasInterrupted();
}

/// PTX ISA: the state space .shared::cta, by which our barriers are addressed, requires version 7.8.
static constexpr unsigned kBarrierPtx = 78;

static bool usesBarriers(ModuleOp module) {
  return module.walk([](ttng::InitBarrierOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static bool hasAtomics(ModuleOp module) {
  return module.walk([](tt::AtomicRMWOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static LogicalResult checkOptions(tt::FuncOp kernel, const support::Options &options, Arch &arch) {
  if (!llvm::isPowerOf2_32(options.numCtas) || options.numCtas > kMaxClusterCtas)
    return tt::report(kernel.getLoc(), diag::NumCtas, options.numCtas, kMaxClusterCtas);
  if (options.numCtas > 1 && !arch.hasClusters)
    return tt::report(kernel.getLoc(), diag::NumCtasUnsupported, options.numCtas, arch.cpu);
  if (!llvm::isPowerOf2_32(options.numWarps) || options.numWarps > 32)
    return tt::report(kernel.getLoc(), diag::NumWarps, options.numWarps);
  if (options.ptxVersion && options.ptxVersion < arch.ptxVersion)
    return tt::report(kernel.getLoc(), diag::PtxVersion, options.ptxVersion, arch.cpu, arch.ptxVersion);
  if (options.ptxVersion) {
    arch.ptxVersion = options.ptxVersion;
    arch.hasVectorAtomics &= options.ptxVersion >= kVectorAtomicPtx;
  }
  return success();
}

/// The PTX version that the module's ops need, for users who set none.
static unsigned neededPtx(ModuleOp module, const Arch &arch) {
  unsigned version = arch.ptxVersion;
  if (makesTensorMaps(module))
    version = std::max(version, kTensorMapPtx);
  if (usesBarriers(module))
    version = std::max(version, kBarrierPtx);
  if (arch.hasVectorAtomics && hasAtomics(module))
    version = std::max(version, kVectorAtomicPtx);
  return version;
}

FailureOr<std::unique_ptr<CudaKernel>> nvidia::beginKernel(ModuleOp module, const support::Options &options,
                                                           const support::TargetSpec &target, const Tools &tools) {
  std::string reason;
  std::optional<Arch> arch = findArch(target.arch, reason);
  if (!arch)
    return tt::report(module.getLoc(), diag::UnknownArch, target.arch, artifact::nvidiaArchs().front().capability);
  auto kernel = std::make_unique<CudaKernel>(options, tools, std::move(*arch));
  kernel->takesTensorMaps = hasFeature(target, kHostMaps);
  if (failed(lowering::useModule(*kernel, module)) || failed(checkOptions(kernel->function, options, kernel->arch)))
    return failure();
  return kernel;
}

uint32_t CudaKernel::threadsPerBlock() const { return ttg::totalWarpsOf(module) * ttg::threadsPerWarpOf(module); }

bool CudaKernel::isSpecialized() const {
  tt::FuncOp kernel = function;
  return kernel.walk([](ttg::WarpSpecializeOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

//--- phases --------------------------------------------------------------------------------

LogicalResult nvidia::lowerToTtg(CudaKernel &kernel) {
  PassManager passes(kernel.module.getContext());
  passes.enableVerifier(false); // the driver verifies after each phase
  if (kernel.module->hasAttr(ttg::kNumWarps))
    buildUserTtgPipeline(passes, kernel.takesTensorMaps, kernel.options);
  else
    buildTtgirPipeline(passes, kernel.arch, kernel.options);
  return passes.run(kernel.module);
}

void nvidia::planMemory(CudaKernel &kernel) {
  kernel.shared = lowering::planSharedMemory(
      kernel.module, kernel.function,
      {.gpu = kernel.arch.cpu, .bytes = kernel.arch.maxSharedBytes, .exceeded = diag::SharedMemoryExceeded});
}

static bool hasDots(tt::FuncOp kernel) {
  return kernel.walk([](tt::DotOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Whether each instruction runs once: the loads of a CTA overlap only with other CTAs' work.
static bool runsOnce(tt::FuncOp kernel) {
  auto isLoop = [](LoopLikeOpInterface) { return WalkResult::interrupt(); };
  return !hasDots(kernel) && !kernel.walk(isLoop).wasInterrupted();
}

/// Up to this peak a basic block is left to ptxas's own scheduling. Without a hint for occupancy ptxas aims at few
/// registers, and reaches that only where values are defined close to their uses.
static unsigned crowdedRegisters(tt::FuncOp kernel) { return runsOnce(kernel) ? 32 : maxThreadRegisters; }

/// Gets the code generator for the module's PTX version, and a context for LLVM IR.
static LogicalResult findMachine(CudaKernel &kernel) {
  if (!kernel.options.ptxVersion)
    kernel.arch.ptxVersion = neededPtx(kernel.module, kernel.arch);
  if (const uint32_t version = kernel.options.ptxVersion) {
    const std::vector<unsigned> known = ptxVersions();
    if (!llvm::is_contained(known, version))
      return tt::report(kernel.function.getLoc(), diag::PtxVersionUnknown, version, *llvm::max_element(known));
  }
  return lowering::useMachine(kernel, targetMachine(kernel.arch));
}

/// Inline assembly, the user's or a library's, may need a later PTX version than our own code.
static LogicalResult raisePtx(CudaKernel &kernel) {
  const unsigned needed = ptxOfAssembly(*kernel.llvmModule);
  if (kernel.options.ptxVersion || needed <= kernel.arch.ptxVersion || !llvm::is_contained(ptxVersions(), needed))
    return success();
  kernel.arch.ptxVersion = needed;
  auto machine = lowering::orDiagnose(kernel.function, targetMachine(kernel.arch));
  if (failed(machine))
    return failure();
  kernel.machine.emplace(std::move(*machine));
  return success();
}

LogicalResult nvidia::makeLlvm(CudaKernel &kernel) {
  tt::FuncOp function = kernel.function;
  if (failed(findMachine(kernel)))
    return failure();
  kernel.llvmModule = lowering::newLlvmModule(kernel);
  NvidiaEmitter emitter(kernel.arch, kernel.options.externLibraries);
  const lowering::EmissionOptions emission = {kernel.options.enableFpFusion, kernel.options.maxRegisters};
  if (failed(lowering::emitModule(kernel.module, *kernel.llvmModule, emitter, kernel.shared, emission)))
    return failure();
  if (kernel.options.numCtas > 1)
    mapProgramsToClusters(*kernel.llvmModule, kernel.options.numCtas, ttng::isSplitOverCluster(kernel.module));
  if (failed(lowering::checkLinked(kernel, emitter.linkLibraries(*kernel.llvmModule), diag::ExternLibrary)) ||
      failed(raisePtx(kernel)) || failed(lowering::verifyLlvm(function, *kernel.llvmModule)))
    return failure();
  const RegisterDemand demand = optimise(*kernel.llvmModule, **kernel.machine, crowdedRegisters(kernel.function));
  kernel.peakRegisters = demand.straightLine;
  kernel.isExcessive = demand.ofBlocks > kExcessRegisters;
  if (kernel.isExcessive)
    tt::report(function.getLoc(), lowering::diag::ExcessRegisters, function.getSymName(), demand.ofBlocks,
               maxThreadRegisters, kernel.options.numWarps);
  return success();
}

LogicalResult nvidia::readLlvm(CudaKernel &kernel, const lowering::StageOverride &stageOverride) {
  return failure(failed(findMachine(kernel)) || failed(lowering::readLlvm(kernel, stageOverride)) ||
                 failed(raisePtx(kernel)));
}

/// Above this size kernels with dots require one resident CTA from the start, since running ptxas twice takes too long
/// (`spillsForOccupancy`).
static constexpr size_t kLargePtxBytes = 512 << 10;

/// Reports the error of code generation about a kernel's inline assembly, at the op of that line.
static LogicalResult checkAssembly(const CudaKernel &kernel) {
  const lowering::AsmError &error = kernel.asmError;
  if (error.text.empty())
    return success();
  tt::FuncOp function = kernel.function;
  return tt::report(lowering::locationOf(error, kernel.module, function.getLoc()), diag::AssemblyRejected, error.text);
}

static void requireOccupancy(CudaKernel &kernel) {
  const MinCtasPerSm chosen =
      chooseMinCtasPerSm(kernel.arch, {.tileRegisters = analysis::peakRegisters(kernel.function),
                                       .valueRegisters = kernel.peakRegisters,
                                       .loadedBytes = analysis::bytesInFlight(kernel.function),
                                       .threads = kernel.threadsPerBlock(),
                                       .sharedBytes = kernel.shared.bytes,
                                       .runsOnce = kernel.runsOnce});
  kernel.residentCtas = chosen.tight;
  kernel.safeCtas = chosen.safe;
}

LogicalResult nvidia::makePtx(CudaKernel &kernel) {
  auto ptx = lowering::orDiagnose(kernel.function, emitPtx(*kernel.llvmModule, **kernel.machine));
  if (failed(ptx) || failed(checkAssembly(kernel)))
    return failure();
  kernel.runsOnce = runsOnce(kernel.function);
  // Dots gain more from registers than from occupancy; their loads go to shared memory.
  if (kernel.isSpecialized())
    kernel.residentCtas = 1;
  else if (!hasDots(kernel.function))
    requireOccupancy(kernel);
  else if (ptx->size() > kLargePtxBytes)
    kernel.residentCtas = 1;
  kernel.ptx = withMinCtasPerSm(*ptx, kernel.residentCtas);
  kernel.llvmModule.reset();
  kernel.context.reset();
  kernel.machine.reset();
  return success();
}

LogicalResult nvidia::readPtx(CudaKernel &kernel, const lowering::StageOverride &stageOverride) {
  kernel.ptx = stageOverride.text;
  kernel.replacedBy = stageOverride.path;
  if (StringRef(kernel.ptx).contains((".entry " + kernel.function.getSymName()).str()))
    return success();
  return lowering::missingEntry(stageOverride, "entry", kernel.function);
}
