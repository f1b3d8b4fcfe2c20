// The phases of the NVIDIA target: ttg, LLVM IR, PTX, cubin.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/CudaTarget.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/ttng/Dialect.h"
#include "compiler/lowering/GpuPlan.h"
#include "compiler/lowering/TtgToLlvm/ModuleEmitter.h"
#include "compiler/passes/tt/Passes.h"
#include "compiler/passes/ttg/Passes.h"
#include "compiler/passes/ttg/Pipeline.h"
#include "compiler/target/nvidia/Clusters.h"
#include "compiler/target/nvidia/Codegen.h"
#include "compiler/target/nvidia/Diagnostics.h"
#include "compiler/target/nvidia/NvidiaEmitter.h"
#include "compiler/target/nvidia/Occupancy.h"
#include "compiler/target/nvidia/PtxLines.h"
#include "compiler/target/nvidia/WrittenStages.h"

#include "mlir/Pass/PassManager.h"

#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

//--- checks --------------------------------------------------------------------------------

/// Blocks of a cluster that some GPUs can place together.
static constexpr uint32_t kMaxClusterBlocks = 16;

/// Functions that are called keep their own control flow.
static LogicalResult checkStructure(ModuleOp module) {
  for (auto function : module.getOps<tt::FuncOp>())
    if (!function.isExternal() && !function.getBody().hasOneBlock())
      return function.emitError() << "the control flow of `" << function.getSymName() << "` is not structured";
  return success();
}

/// Assemblers of CUDA 12.3 and 12.4 take the strides of `tensormap.replace` without their lowest four bits; they know no
/// PTX of this version, and count as too old for it.
static constexpr unsigned kTensorMapPtx = 85;
/// PTX ISA, red: vectors came with 8.1.
static constexpr unsigned kVectorAtomicPtx = 81;

void nvidia::addDescriptorPasses(OpPassManager &passes, const support::TargetSpec &target, const support::Options &options,
                                 bool wherePossible, bool hostMaps) {
  std::string whyNot;
  std::optional<Arch> arch = findArch(target.arch, whyNot);
  const bool pays = arch && arch->hasWgmma; // measured there
  const bool mayMake = (pays || wherePossible) && (!options.ptxVersion || options.ptxVersion >= kTensorMapPtx);
  if (arch && arch->makesTensorMaps && (mayMake || hostMaps))
    passes.addPass(ttg::createPlaceDescriptors({wherePossible, hostMaps}));
}

static bool makesTensorMaps(ModuleOp module) {
  auto isMap = [](ttng::MakeTensorMapOp) { return WalkResult::interrupt(); };
  return module.walk(isMap).wasInterrupted();
}

static bool hasAtomics(ModuleOp module) {
  return module.walk([](tt::AtomicRMWOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static LogicalResult checkOptions(tt::FuncOp kernel, const support::Options &options, Arch &arch) {
  if (!llvm::isPowerOf2_32(options.numCtas) || options.numCtas > kMaxClusterBlocks)
    return kernel.emitError() << "num_ctas is " << options.numCtas << "; it must be a power of two up to "
                              << kMaxClusterBlocks;
  if (options.numCtas > 1 && !arch.hasClusters)
    return kernel.emitError() << "num_ctas is " << options.numCtas << "; " << arch.cpu
                              << " has no clusters of blocks, which came with sm_90";
  if (options.numCtas > 1)
    kernel.emitRemark() << "num_ctas=" << options.numCtas << ": a program runs in the first block of its cluster, the others end "
                        << "at once; num_ctas=1 does the same with fewer, and num_warps asks for more threads";
  if (!llvm::isPowerOf2_32(options.numWarps) || options.numWarps > 32)
    return kernel.emitError() << "num_warps is " << options.numWarps << "; it must be a power of two up to 32";
  if (options.ptxVersion && options.ptxVersion < arch.ptxVersion)
    return kernel.emitError() << "ptx_version is " << options.ptxVersion << "; the code made for " << arch.cpu
                              << " needs " << arch.ptxVersion << " at least";
  auto module = kernel->getParentOfType<ModuleOp>();
  if (options.ptxVersion) {
    arch.ptxVersion = options.ptxVersion;
    arch.hasVectorAtomics &= options.ptxVersion >= kVectorAtomicPtx;
    return success();
  }
  if (makesTensorMaps(module))
    arch.ptxVersion = std::max(arch.ptxVersion, kTensorMapPtx);
  if (arch.hasVectorAtomics && hasAtomics(module))
    arch.ptxVersion = std::max(arch.ptxVersion, kVectorAtomicPtx);
  return success();
}

//--- phases --------------------------------------------------------------------------------

static LogicalResult lowerToTtg(ModuleOp module, const support::Options &options, const Arch &arch) {
  if (module->hasAttr(ttg::kNumWarps))
    return success();
  ttg::GpuShape shape;
  shape.numWarps = options.numWarps;
  shape.numCtas = options.numCtas;
  shape.target = "cuda:" + std::to_string(arch.capability);
  shape.askedStages = options.numStages == support::Options().numStages ? 0 : options.numStages;
  shape.maxSharedBytes = arch.maxSharedBytes;
  shape.hasWarpMma = arch.hasWarpMma;
  shape.hasWarpGroupMma = arch.hasWgmma;
  shape.hasAsyncCopy = arch.hasAsyncCopy;
  shape.hasVectorAtomics = arch.hasVectorAtomics;
  shape.productStages = options.numStages;
  PassManager passes(module.getContext());
  passes.enableVerifier(false); // the driver verifies between phases where asked
  passes.addPass(tt::createDecomposeScaledDots({/*halves=*/arch.hasWarpMma}));
  passes.addPass(tt::createPadTiles());
  ttg::buildPipeline(passes, shape);
  return passes.run(module);
}

static std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo());
  return text;
}

static LogicalResult verifyLlvm(tt::FuncOp kernel, const llvm::Module &module) {
#ifndef NDEBUG
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(module, &stream))
    return kernel.emitError() << "invalid LLVM IR; this is a defect of the compiler: " << text;
#endif
  return success();
}

template <typename T> static FailureOr<T> orDiagnose(Operation *op, llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  return op->emitError() << llvm::toString(value.takeError());
}

static bool hasProducts(tt::FuncOp kernel) {
  auto isProduct = [](Operation *op) {
    return isa<tt::DotOp, ttng::WarpGroupDotOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel.walk(isProduct).wasInterrupted();
}

/// Says which op takes most of a block's shared memory where that is more than there is: no launch can load such a kernel.
static void remarkSharedOverrun(tt::FuncOp kernel, const analysis::SharedMemoryPlan &shared, const Arch &arch) {
  if (shared.bytes <= arch.maxSharedBytes)
    return;
  std::pair<uint32_t, Operation *> largest = {0, kernel};
  kernel.walk([&](Operation *op) {
    if (const uint32_t bytes = shared.bytesOf.lookup(op); bytes > largest.first)
      largest = {bytes, op};
  });
  largest.second->emitRemark() << "`" << kernel.getSymName() << "` needs " << shared.bytes
                               << " bytes of shared memory, of which this takes " << largest.first << "; " << arch.cpu
                               << " has " << arch.maxSharedBytes
                               << ": smaller tiles or fewer stages may help, or it cannot be launched";
}

/// Beyond it kernels with dots promise one block at once: asking the assembler twice takes too long (`spillsForCompany`).
static constexpr size_t kLargePtxBytes = 512 << 10;

static LogicalResult makePtx(ModuleOp module, tt::FuncOp kernel, const support::Options &options, const Arch &arch,
                             const Emit &emit, CudaCode &code) {
  auto machine = orDiagnose(kernel, MachineLease::get(arch));
  if (failed(machine))
    return failure();
  const analysis::SharedMemoryPlan shared = analysis::planSharedMemory(module);
  code.sharedBytes = shared.bytes;
  remarkSharedOverrun(kernel, shared, arch);
  llvm::LLVMContext context;
  auto llvmModule = std::make_unique<llvm::Module>(kernel.getSymName(), context);
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  llvmModule->setDataLayout((*machine)->createDataLayout());
  NvidiaEmitter emitter(arch, options.externLibraries);
  const lowering::EmissionOptions emission = {options.enableFpFusion, options.maxRegisters};
  if (failed(lowering::emitModule(module, *llvmModule, emitter, shared, emission)))
    return failure();
  if (options.numCtas > 1)
    makeProgramsOfClusters(*llvmModule, options.numCtas);
  if (llvm::Error error = emitter.linkLibraries(*llvmModule))
    return kernel.emitError() << llvm::toString(std::move(error));
  if (failed(verifyLlvm(kernel, *llvmModule)))
    return failure();
  optimise(*llvmModule, **machine);
  if (emit.written.stage == "llir") {
    auto written = readLlvm(emit.written, kernel, *llvmModule);
    if (failed(written))
      return failure();
    llvmModule = std::move(*written);
  }
  if (emit.llir || emit.stopAfter == "llir")
    llvm::raw_string_ostream(code.llir) << *llvmModule;
  if (emit.stopAfter == "llir")
    return success();
  if (emit.written.stage == "ptx") {
    code.ptx = emit.written.text;
    return checkPtx(emit.written, kernel);
  }
  auto ptx = orDiagnose(kernel, emitPtx(*llvmModule, **machine));
  if (failed(ptx))
    return failure();
  // Products need registers more than company; their loads wait in shared memory.
  if (!hasProducts(kernel))
    code.promisedBlocks = blocksToPromise(arch, {.tileRegisters = analysis::peakRegisters(kernel),
                                                 .loadedBytes = analysis::bytesInFlight(kernel),
                                                 .threads = code.threadsPerBlock,
                                                 .sharedBytes = code.sharedBytes});
  else if (ptx->size() > kLargePtxBytes)
    code.promisedBlocks = 1;
  code.ptx = withResidentBlocks(*ptx, code.promisedBlocks);
  return success();
}

/// Whether the assembler spills although it leaves registers for a second block: where there is no promise at all it gives
/// large kernels 32 registers at times. Users' own limits stay.
static bool spillsForCompany(const Assembled &made, const Arch &arch, const CudaCode &code) {
  return made.spillBytes > 0 && !StringRef(code.ptx).contains(".maxnreg") &&
         residentBlocks(arch, {made.registers, code.threadsPerBlock, /*sharedBytes=*/0}) > 1 &&
         made.registers < mostRegisters;
}

/// A promise of occupancy that the assembler can only keep with spills gives way to the largest one without; where there
/// is none, to the one that leaves a thread all registers.
static std::optional<Assembled> assembleWithoutSpills(const Arch &arch, const Tools &tools, StringRef options,
                                                      CudaCode &code, AssemblyError &error) {
  const auto promising = [&](uint32_t blocks) {
    return assemble(withResidentBlocks(code.ptx, blocks), arch, tools, options, error);
  };
  const auto keep = [&](uint32_t blocks) {
    code.promisedBlocks = blocks;
    code.ptx = withResidentBlocks(code.ptx, blocks);
    code.isReproducible = false;
  };
  std::optional<Assembled> best = assemble(code.ptx, arch, tools, options, error);
  if (!best && !error.isLate && code.promisedBlocks > 0) {
    keep(0); // some instructions need more registers than a promise may leave
    return promising(0);
  }
  if (best && code.promisedBlocks == 0 && options.empty() && spillsForCompany(*best, arch, code)) {
    std::optional<Assembled> alone = promising(1);
    if (!alone || alone->spillBytes >= best->spillBytes)
      return best;
    keep(1);
    return alone;
  }
  uint32_t enough = residentBlocks(arch, {mostRegisters, code.threadsPerBlock, code.sharedBytes});
  if (!best || best->spillBytes == 0 || enough >= code.promisedBlocks)
    return best;
  std::optional<Assembled> roomy = promising(enough);
  if (!roomy || roomy->spillBytes >= best->spillBytes)
    return best;
  best = std::move(roomy);
  for (uint32_t tooMany = code.promisedBlocks; best->spillBytes == 0 && tooMany - enough > 1;) {
    const uint32_t blocks = enough + (tooMany - enough) / 2;
    std::optional<Assembled> made = promising(blocks);
    if (made && made->spillBytes == 0) {
      best = std::move(made);
      enough = blocks;
    } else {
      tooMany = blocks;
    }
  }
  keep(enough);
  return best;
}

/// A remark says so where machine code took longer.
static constexpr std::chrono::seconds kSlowAssembly{15};

static LogicalResult makeCubin(tt::FuncOp kernel, const Arch &arch, const Tools &tools, StringRef options,
                               CudaCode &code) {
  const auto began = std::chrono::steady_clock::now();
  AssemblyError error;
  std::optional<Assembled> made = assembleWithoutSpills(arch, tools, options, code, error);
  if (!made && !error.isRefusal)
    return kernel.emitError() << error.message;
  if (!made && error.isLate)
    return tt::report(kernel.getLoc(), diag::AssemblerTimeout, kernel.getSymName(), tools.secondsLimit);
  if (!made)
    return tt::report(locationOfLine(code.ptx, error.line, kernel.getLoc()), diag::AssemblerRefused, error.message);
  if (const auto took = std::chrono::steady_clock::now() - began; took > kSlowAssembly)
    tt::report(kernel.getLoc(), diag::SlowAssembly, std::chrono::round<std::chrono::seconds>(took).count(),
               kernel.getSymName(), made->registers, made->spillBytes);
  if (!made->waits.empty())
    kernel.emitRemark() << "the assembler lets products by warp groups wait for each other: " << made->waits;
  code.cubin = std::move(made->cubin);
  code.tool = made->tool;
  code.toolVersion = made->toolVersion;
  code.registers = made->registers;
  code.spills = made->spillBytes;
  code.stackBytes = made->stackBytes;
  return success();
}

FailureOr<CudaCode> nvidia::compile(ModuleOp module, const support::Options &options, const support::TargetSpec &target,
                                    const Tools &tools, const Emit &emit) {
  std::string whyNot;
  std::optional<Arch> arch = findArch(target.arch, whyNot);
  if (!arch)
    return module.emitError() << whyNot;
  FailureOr<tt::FuncOp> kernel = lowering::findKernel(module);
  if (failed(kernel) || failed(checkStructure(module)) || failed(checkOptions(*kernel, options, *arch)) ||
      failed(lowerToTtg(module, options, *arch)))
    return failure();
  CudaCode code;
  code.params = lowering::paramsOf(*kernel);
  code.numWarps = ttg::numWarpsOf(module);
  code.threadsPerBlock = code.numWarps * ttg::threadsPerWarpOf(module);
  if (auto bytes = module->getAttrOfType<IntegerAttr>(ttg::kScratchBytes))
    code.globalScratchBytes = bytes.getInt();
  if (auto alignment = module->getAttrOfType<IntegerAttr>(ttg::kScratchAlignment))
    code.globalScratchAlign = alignment.getInt();
  if (emit.plan)
    code.plan = lowering::printPlan(module, analysis::planSharedMemory(module));
  if (emit.ttgir || emit.stopAfter == "ttgir")
    code.ttgir = printed(module);
  if (emit.stopAfter == "ttgir")
    return code;
  if (failed(makePtx(module, *kernel, options, *arch, emit, code)))
    return failure();
  const bool wantsCubin = emit.cubin && emit.stopAfter != "llir" && emit.stopAfter != "ptx";
  if (wantsCubin && failed(makeCubin(*kernel, *arch, tools, options.ptxOptions, code)))
    return failure();
  if (!emit.ptx && emit.stopAfter != "ptx" && !code.cubin.empty() && code.isReproducible)
    code.ptx.clear();
  return code;
}
