// The CUDA target of the driver.
// SPDX-License-Identifier: MIT
#include "compiler/driver/GpuPhases.h"

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/lowering/Kernel.h"
#include "compiler/target/nvidia/CudaTarget.h"
#include "compiler/target/nvidia/Diagnostics.h"
#include "compiler/target/nvidia/Explain.h"
#include "compiler/target/nvidia/HostTensorMapJson.h"
#include "compiler/target/nvidia/LaunchRecipes.h"
#include "compiler/target/nvidia/Pipeline.h"
#include "compiler/target/nvidia/TimeEstimate.h"
#include "compiler/target/nvidia/dialect/HostTensorMaps.h"

#include "llvm/BinaryFormat/ELF.h"

using namespace nereid;
using namespace nereid::driver;

static std::optional<support::TargetSpec> resolve(const std::string &text, std::string &reason) {
  llvm::StringRef name = text;
  const bool isSimulated = name.consume_back(artifact::kSimulated);
  const bool hasTensorCopies = name.consume_back(nvidia::kTensorCopies);
  const bool takesMaps = !hasTensorCopies && name.consume_back(nvidia::kHostMaps);
  const std::string arch = name.str();
  if (arch.empty()) {
    reason = "target `cuda` needs a compute capability, as in `cuda:90`";
    return std::nullopt;
  }
  const std::optional<nvidia::Arch> known = nvidia::findArch(arch, reason);
  if (!known)
    return std::nullopt;
  if (takesMaps && !known->makesTensorMaps) {
    reason = "target `cuda:" + arch + "`: GPUs of compute capability " + std::to_string(known->capability / 10) + "." +
             std::to_string(known->capability % 10) + " have no tensor maps, which this kernel takes from the host";
    return std::nullopt;
  }
  support::TargetSpec spec;
  spec.backend = artifact::kCuda.name;
  spec.arch = nvidia::canonicalName(arch);
  if (hasTensorCopies || takesMaps)
    spec.features = (takesMaps ? nvidia::kHostMaps : nvidia::kTensorCopies).str();
  if (isSimulated)
    spec.features += artifact::kSimulated;
  return spec;
}

/// The launcher makes tensor maps. Clusters and cooperative grids are as the user asks.
static bool allowsOwnLauncher(const support::Options &options, const support::TargetSpec &target) {
  std::string reason;
  const std::optional<nvidia::Arch> known = nvidia::findArch(target.arch, reason);
  return known && known->hasTma && !nvidia::hasFeature(target, nvidia::kHostMaps) && options.numCtas == 1 &&
         !options.cooperativeGrid;
}

using Phases = GpuPhases<nvidia::CudaKernel>;

static nvidia::CudaKernel &kernelOf(Compilation &work) { return Phases::kernelOf(work); }

static void addTtirPasses(mlir::OpPassManager &passes, const Compilation &work) {
  nvidia::buildTtirPipeline(passes, work.target, work.options);
}

static mlir::LogicalResult begin(Compilation &work) {
  work.result.artifact.sharedBytes = leastSharedBytes(work.module);
  const bool isSimulated = nvidia::hasFeature(work.target, artifact::kSimulated);
  const Request::Tools tools = isSimulated ? Request::Tools() : work.request.tools;
  auto kernel =
      nvidia::beginKernel(work.module, work.options, work.target, {tools.ptxas, tools.nvJitLink, tools.secondsLimit});
  if (mlir::failed(kernel))
    return mlir::failure();
  work.state = std::make_unique<KernelState<nvidia::CudaKernel>>(std::move(*kernel));
  return mlir::success();
}

/// A simulated GPU runs PTX.
static mlir::LogicalResult readCubin(Compilation &work, const Request::Replacement &file) {
  if (nvidia::hasFeature(work.target, artifact::kSimulated)) {
    work.diagnostics.report(diag::StageNotReplaceable, {}, file.path, "sim", "ptx");
    return mlir::failure();
  }
  if (!checkBinary(work, file, llvm::ELF::EM_CUDA))
    return mlir::failure();
  kernelOf(work).assembled.cubin = file.text;
  return mlir::success();
}

/// Stores the PTX as it was assembled, where the module cannot reproduce it.
static void keepAssembledPtx(artifact::Artifact &artifact, const nvidia::CudaKernel &kernel) {
  if (kernel.isPtxReproducible)
    return;
  auto ptx = llvm::find_if(artifact.stages, [](const artifact::Stage &stage) { return stage.name == "ptx"; });
  if (ptx == artifact.stages.end())
    artifact.stages.push_back({"ptx", kernel.ptx});
  else
    ptx->data = kernel.ptx;
}

static void finish(Compilation &work) {
  nvidia::CudaKernel &kernel = kernelOf(work);
  artifact::Artifact &artifact = work.result.artifact;
  setParameterOffsets(artifact, lowering::paramsOf(kernel.function));
  if (std::string maps = nvidia::describeHostTensorMaps(work.module); !maps.empty())
    artifact.options["tensordesc_meta"] = std::move(maps);
  artifact.tensorMaps = nvidia::tensorMapRecipes(kernel.function);
  artifact.conditions = nvidia::launchConditions(kernel.function);
  artifact.persistent = kernel.function->hasAttr(ttng::kPersistent);
  artifact.blockDims = {kernel.threadsPerBlock(), 1, 1};
  artifact.sharedBytes = std::max<uint64_t>(kernel.shared.bytes, artifact.sharedBytes);
  if (auto bytes = work.module->getAttrOfType<mlir::IntegerAttr>(ttg::kScratchBytes))
    artifact.globalScratchBytes = bytes.getInt();
  if (auto alignment = work.module->getAttrOfType<mlir::IntegerAttr>(ttg::kScratchAlignment))
    artifact.globalScratchAlign = alignment.getInt();
  artifact.registers = kernel.assembled.registers;
  artifact.spills = kernel.assembled.spillBytes;
  artifact.tool = kernel.assembled.tool;
  artifact.toolVersion = kernel.assembled.toolVersion;
  keepAssembledPtx(artifact, kernel);
  artifact.binary = std::move(kernel.assembled.cubin.empty() ? kernel.ptx : kernel.assembled.cubin);
}

const Backend driver::cudaBackend = {
    .info = artifact::kCuda,
    .resolve = resolve,
    .phases = {{"source", nullptr, printTtir, nullptr},
               {"ttir", makeTtir, printTtir, parseTtir},
               {"ttgir", Phases::made<nvidia::lowerToTtg>, Phases::printed<lowering::printTtg>,
                Phases::parseTtgir<nvidia::lowerToTtg>},
               {"plan", Phases::planned<nvidia::planMemory>, Phases::printPlan, nullptr, {}, explanationViews()},
               {"llir", Phases::made<nvidia::makeLlvm>, Phases::printed<lowering::printLlvm>,
                Phases::readText<nvidia::readLlvm>},
               {"ptx", Phases::made<nvidia::makePtx>,
                [](Compilation &work) -> mlir::FailureOr<std::string> { return kernelOf(work).ptx; },
                Phases::readText<nvidia::readPtx>},
               {"cubin", Phases::made<nvidia::makeCubin>, nullptr, readCubin}},
    .extras = {},
    .toolTimeout = &nvidia::diag::AssemblerTimeout,
    .explainKernel = [](Compilation &work) { return nvidia::explainKernel(kernelOf(work)); },
    .estimateLaunch =
        [](Compilation &work, const explain::LaunchShape &launch) {
          return nvidia::estimateLaunch(kernelOf(work), work.request.parameters, launch);
        },
    .allowsOwnLauncher = allowsOwnLauncher,
    .addTtirPasses = addTtirPasses,
    .begin = begin,
    .finish = finish};
