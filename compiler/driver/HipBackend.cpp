// The HIP target of the driver.
// SPDX-License-Identifier: MIT
#include "compiler/driver/GpuPhases.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/lowering/Kernel.h"
#include "compiler/lowering/asm/AsmErrors.h"
#include "compiler/target/amd/Explain.h"
#include "compiler/target/amd/HipTarget.h"
#include "compiler/target/amd/Pipeline.h"
#include "compiler/target/amd/TimeEstimate.h"
#include "compiler/target/sim/EmitPtx.h"

#include "llvm/BinaryFormat/ELF.h"

using namespace nereid;
using namespace nereid::driver;

static std::optional<support::TargetSpec> resolve(const std::string &text, std::string &reason) {
  llvm::StringRef name = text;
  const bool isSimulated = name.consume_back(artifact::kSimulated);
  if (name.empty()) {
    reason = "target `hip` needs an architecture, as in `hip:gfx942`";
    return std::nullopt;
  }
  if (!amd::findArch(name.str(), reason))
    return std::nullopt;
  support::TargetSpec spec;
  spec.backend = artifact::kHip.name;
  spec.arch = amd::canonicalName(name.str());
  if (isSimulated)
    spec.features = artifact::kSimulated;
  return spec;
}

using Phases = GpuPhases<amd::HipKernel>;

static amd::HipKernel &kernelOf(Compilation &work) { return Phases::kernelOf(work); }

static void addTtirPasses(mlir::OpPassManager &passes, const Compilation &work) {
  amd::buildTtirPipeline(passes, work.options);
}

static mlir::LogicalResult begin(Compilation &work) {
  work.result.artifact.sharedBytes = leastSharedBytes(work.module);
  auto kernel = amd::beginKernel(work.module, work.options, work.target);
  if (mlir::failed(kernel))
    return mlir::failure();
  work.state = std::make_unique<KernelState<amd::HipKernel>>(std::move(*kernel));
  return mlir::success();
}

static bool isSimulated(const Compilation &work) {
  return llvm::StringRef(work.target.features).contains(artifact::kSimulated);
}

/// What the simulated GPU does not know is reported where the kernel has it; other errors are the compiler's own.
static mlir::LogicalResult reportUnsupported(amd::HipKernel &kernel, llvm::Error error) {
  llvm::Error others = llvm::handleErrors(std::move(error), [&](const sim::Unsupported &lacking) {
    const lowering::AsmError place{"", std::nullopt, lacking.line, lacking.column};
    tt::FuncOp function = kernel.function;
    (void)tt::report(lowering::locationOf(place, kernel.module, function.getLoc()), diag::SimulatorLacks, lacking.what);
  });
  return others ? kernel.function.emitError() << llvm::toString(std::move(others)) : mlir::failure();
}

/// The simulated GPU executes what the code generator gets.
static mlir::LogicalResult makeAssembly(Compilation &work) {
  amd::HipKernel &kernel = kernelOf(work);
  if (isSimulated(work)) {
    auto text = sim::emitPtx(*kernel.llvmModule, kernel.arch);
    if (!text)
      return reportUnsupported(kernel, text.takeError());
    kernel.simulated = std::move(*text);
  }
  return amd::makeAssembly(kernel);
}

static mlir::LogicalResult readAssembly(Compilation &work, const Request::Replacement &written) {
  amd::HipKernel &kernel = kernelOf(work);
  if (isSimulated(work))
    return tt::report(kernel.function.getLoc(), diag::StageNotReplaceable, written.path,
                      work.target.backend + ":" + work.target.arch + std::string(artifact::kSimulated), "llir");
  return amd::readAssembly(kernel, {written.text, written.path});
}

static mlir::LogicalResult readHsaco(Compilation &work, const Request::Replacement &file) {
  if (isSimulated(work)) {
    work.diagnostics.report(diag::StageNotReplaceable, {}, file.path, "sim:" + work.target.arch, "llir");
    return mlir::failure();
  }
  if (!checkBinary(work, file, llvm::ELF::EM_AMDGPU))
    return mlir::failure();
  kernelOf(work).hsaco.assign(file.text.begin(), file.text.end());
  return mlir::success();
}

static mlir::FailureOr<std::string> printSimulated(Compilation &work) { return kernelOf(work).simulated; }

static void finish(Compilation &work) {
  amd::HipKernel &kernel = kernelOf(work);
  artifact::Artifact &artifact = work.result.artifact;
  setParameterOffsets(artifact, lowering::paramsOf(kernel.function));
  artifact.blockDims = {kernel.threadsPerBlock(), 1, 1};
  artifact.sharedBytes = std::max<uint64_t>(kernel.shared.bytes, artifact.sharedBytes);
  const amd::KernelResources resources = amd::resourcesOf(kernel.assembly);
  artifact.registers = resources.vectorRegisters;
  artifact.spills = resources.spilledRegisters;
  artifact.tool = "llvm";
  artifact.toolVersion = LLVM_VERSION_STRING;
  std::string hsaco(kernel.hsaco.begin(), kernel.hsaco.end());
  if (!isSimulated(work)) {
    artifact.binary = std::move(hsaco);
    return;
  }
  artifact.binary = kernel.simulated;
  if (!hsaco.empty())
    artifact.stages.push_back({std::string(artifact::kHip.binaryStage), std::move(hsaco)});
}

const Backend driver::hipBackend = {
    .info = artifact::kHip,
    .resolve = resolve,
    .phases = {{"source", nullptr, printTtir, nullptr},
               {"ttir", makeTtir, printTtir, parseTtir},
               {"ttgir", Phases::made<amd::lowerToTtg>, Phases::printed<lowering::printTtg>,
                Phases::parseTtgir<amd::lowerToTtg>},
               {"plan", Phases::planned<amd::planMemory>, Phases::printPlan, nullptr, {}, explanationViews()},
               {"llir", Phases::made<amd::makeLlvm>, Phases::printed<lowering::printLlvm>,
                Phases::readText<amd::readLlvm>},
               {"amdgcn",
                makeAssembly,
                [](Compilation &work) -> mlir::FailureOr<std::string> { return kernelOf(work).assembly; },
                readAssembly,
                {},
                {{"sim", printSimulated}}},
               {"hsaco", Phases::made<amd::makeHsaco>, nullptr, readHsaco}},
    .extras = {},
    .toolTimeout = nullptr,
    .explainKernel = [](Compilation &work) { return amd::explainKernel(kernelOf(work)); },
    .estimateLaunch =
        [](Compilation &work, const explain::LaunchShape &launch) {
          return amd::estimateLaunch(kernelOf(work), work.result.artifact.parameters, launch);
        },
    .allowsOwnLauncher = nullptr,
    .addTtirPasses = addTtirPasses,
    .begin = begin,
    .finish = finish};
