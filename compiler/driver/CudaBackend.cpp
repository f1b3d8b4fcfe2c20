// NVIDIA GPUs as the driver sees them.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Backend.h"

#include "compiler/target/nvidia/CudaTarget.h"
#include "compiler/target/nvidia/HostMaps.h"

using namespace nereid;
using namespace nereid::driver;

/// Behind the capability: descriptors go to the copy engine wherever it can take them, not only where that pays.
static constexpr llvm::StringLiteral kTensorCopies = "+tma";
/// Behind the capability: a launch passes the host's descriptors as tensor maps.
static constexpr llvm::StringLiteral kHostMaps = "+maps";

static std::optional<support::TargetSpec> resolve(const std::string &text, std::string &whyNot) {
  llvm::StringRef name = text;
  const bool hasTensorCopies = name.consume_back(kTensorCopies);
  const bool takesMaps = !hasTensorCopies && name.consume_back(kHostMaps);
  const std::string arch = name.str();
  if (arch.empty()) {
    whyNot = "target `cuda` needs a compute capability, as in `cuda:90`";
    return std::nullopt;
  }
  const std::optional<nvidia::Arch> found = nvidia::findArch(arch, whyNot);
  if (!found)
    return std::nullopt;
  if (takesMaps && !found->makesTensorMaps) {
    whyNot = "target `cuda:" + arch + "`: GPUs of compute capability " + std::to_string(found->capability / 10) + "." +
             std::to_string(found->capability % 10) + " have no tensor maps, which this kernel takes from the host";
    return std::nullopt;
  }
  support::TargetSpec spec;
  spec.backend = "cuda";
  spec.arch = nvidia::canonicalName(arch);
  if (hasTensorCopies || takesMaps)
    spec.features = (takesMaps ? kHostMaps : kTensorCopies).str();
  return spec;
}

static void prepare(mlir::ModuleOp) {}

static void placeDescriptors(mlir::OpPassManager &passes, const support::TargetSpec &target, const support::Options &options) {
  nvidia::addDescriptorPasses(passes, target, options, target.features == kTensorCopies, target.features == kHostMaps);
}

static nvidia::Emit emitOf(const BackendJob &job) {
  nvidia::Emit emit;
  emit.plan = job.wants("plan");
  emit.ttgir = job.wants("ttgir");
  emit.llir = job.wants("llir");
  emit.ptx = job.wants("ptx");
  if (const auto &replacement = job.request.replacement)
    emit.written = {replacement->stage, replacement->text, replacement->path};
  if (job.request.stopAfter)
    emit.stopAfter = *job.request.stopAfter;
  else if (!job.request.keepsBinary)
    emit.stopAfter = emit.ptx ? "ptx" : emit.llir ? "llir" : "ttgir";
  return emit;
}

static mlir::LogicalResult finish(const BackendJob &job, artifact::Artifact &artifact) {
  const uint32_t leastShared = leastSharedBytes(job.module);
  const nvidia::Tools tools{job.request.tools.ptxas, job.request.tools.nvJitLink, job.request.tools.secondsLimit};
  mlir::FailureOr<nvidia::CudaCode> code = nvidia::compile(job.module, job.options, job.target, tools, emitOf(job));
  if (mlir::failed(code))
    return mlir::failure();
  placeParameters(artifact, code->params);
  if (std::string maps = nvidia::describeHostMaps(job.module); !maps.empty())
    artifact.options["tensordesc_meta"] = std::move(maps);
  artifact.blockDims = {code->threadsPerBlock, 1, 1};
  artifact.sharedBytes = std::max(code->sharedBytes, leastShared);
  artifact.globalScratchBytes = code->globalScratchBytes;
  artifact.globalScratchAlign = code->globalScratchAlign;
  artifact.registers = code->registers;
  artifact.spills = code->spills;
  artifact.tool = code->tool;
  artifact.toolVersion = code->toolVersion;
  for (auto [name, text] : {std::pair{"plan", &code->plan}, {"ttgir", &code->ttgir}, {"llir", &code->llir}, {"ptx", &code->ptx}})
    if (job.wants(name) || (text == &code->ptx && !code->isReproducible))
      artifact.stages.push_back({name, *text});
  artifact.binary = code->cubin.empty() ? std::move(code->ptx) : std::move(code->cubin);
  return mlir::success();
}

const Backend driver::cudaBackend = {"cuda", {"ttir", "plan", "ttgir", "llir", "ptx", "cubin"}, {"ttir", "ttgir", "llir", "ptx"},
                                   resolve, prepare, placeDescriptors, finish};
