// Implements `nereid compile`: writes a kernel's stages to files or standard output.
// SPDX-License-Identifier: MIT
#include "tools/nereid/Commands.h"

#include "artifact/TargetInfo.h"
#include "compiler/driver/Cancellation.h"
#include "compiler/driver/Compiler.h"
#include "compiler/support/InputFile.h"
#include "compiler/support/NearestName.h"
#include "compiler/support/Sanitizers.h"
#include "jit/SourceKernel.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::tools;

static int fail(const std::string &text) {
  llvm::errs() << "nereid: error: " << text << "\n";
  return 2;
}

static int showDiagnostics(const support::DiagnosticEngine &diagnostics) {
  llvm::errs() << diagnostics.render();
  return 1;
}

std::pair<std::string, std::string> tools::splitSource(llvm::StringRef source) {
  auto [path, kernel] = source.rsplit(':');
  const bool isName = !kernel.empty() && llvm::all_of(kernel, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return isName && path.size() != source.size() ? std::pair(path.str(), kernel.str())
                                                : std::pair(source.str(), std::string());
}

static bool writeStage(const std::string &dir, const std::string &name, const std::string &stage,
                       const std::string &data, std::string &problem) {
  if (dir == "-") {
    llvm::outs() << data;
    return true;
  }
  llvm::SmallString<128> path(dir);
  llvm::sys::path::append(path, name + "." + stage);
  std::error_code code = llvm::sys::fs::create_directories(dir);
  if (!code) {
    llvm::raw_fd_ostream file(path, code);
    if (!code) {
      file << data;
      file.close();
      code = file.error();
      file.clear_error();
    }
  }
  if (code) {
    problem = "cannot write " + path.str().str() + ": " + code.message();
    return false;
  }
  llvm::outs() << path << "\n";
  return true;
}

/// The requested stages; by default the backend's binary.
static std::vector<std::string> stagesOf(const CompileArguments &arguments, const artifact::TargetInfo &info) {
  return arguments.emit.empty() ? std::vector{std::string(info.binaryStage)} : arguments.emit;
}

static std::string noStage(const std::string &backend, const std::string &stage, std::vector<std::string> known,
                           const std::vector<std::string> &steps) {
  known.push_back("artifact");
  support::NearestName nearest(stage);
  nearest.addAll(known);
  nearest.addAll(steps);
  return "target `" + backend + "` has no stage `" + stage + "`" + nearest.hint() + "; it has " +
         llvm::join(known, ", ");
}

static bool wantsBinary(const std::vector<std::string> &emit, const std::string &backend) {
  return llvm::any_of(
      emit, [&](const std::string &stage) { return stage == "artifact" || driver::isBinaryStage(backend, stage); });
}

static std::string noCubin(const CudaTools &tools, const std::string &arch) {
  const std::string remedy =
      "install NVIDIA's CUDA toolkit, or its wheel `nvidia-cuda-nvcc`, or name a ptxas by --ptxas or "
      "TRITON_PTXAS_PATH";
  if (!tools.empty())
    return "cannot make a cubin for " + arch + ": " + (tools.nvJitLink.empty() ? tools.ptxas : tools.nvJitLink) +
           " does not know this GPU or this PTX; " + remedy;
  const std::string where = tools.roots.empty() ? "" : " in " + llvm::join(tools.roots, ", ");
  return "cannot make a cubin: there is neither ptxas nor nvJitLink" + where + "; " + remedy;
}

static std::string withoutLocations(mlir::MLIRContext &context, const std::string &ttir,
                                    support::DiagnosticEngine &diagnostics) {
  auto module = driver::parse(context, ttir, "ttir", diagnostics);
  return module ? driver::printModule(*module, /*withLocations=*/false) : "";
}

namespace {
/// The input of `compile`: a kernel of a .py file with a signature, or a module's text.
struct Input {
  std::optional<jit::SourceKernel> kernel;
  std::string path, text; ///< of a .ttir file
  std::string problem;    ///< of the command line, not of the file
};
} // namespace

static Input readInput(const CompileArguments &arguments, const support::Options &options,
                       const support::TargetSpec &target, support::DiagnosticEngine &diagnostics) {
  Input input;
  if (!llvm::StringRef(arguments.source).ends_with(".ttir")) {
    auto [path, kernelName] = splitSource(arguments.source);
    if (arguments.signature.empty())
      input.problem = "--signature is required for a kernel of a .py file";
    else
      input.kernel = jit::readSourceKernel(path, kernelName, arguments.signature, options, target, diagnostics);
    return input;
  }
  input.path = arguments.source;
  auto buffer = support::readInput(input.path);
  if (!arguments.signature.empty())
    input.problem = "a .ttir file has the types of its kernel; it takes no --signature";
  else if (!buffer)
    input.problem = "cannot read " + input.path + ": " + buffer.getError().message();
  else
    input.text = (*buffer)->getBuffer().str();
  return input;
}

/// The file of --ir-override; its last suffix is the stage. Returns what is wrong with it.
static std::string readReplacement(const std::string &path, driver::Request &request) {
  if (path.empty())
    return "";
  auto buffer = support::readInput(path);
  if (!buffer)
    return "cannot read " + path + ": " + buffer.getError().message();
  const std::string stage = llvm::sys::path::extension(path).ltrim('.').str();
  request.replacement = driver::Request::Replacement{stage, (*buffer)->getBuffer().str(), path};
  return "";
}

static std::optional<driver::Result> compileInput(Input &input, mlir::MLIRContext &context, driver::Request request,
                                                  const support::Options &options, const support::TargetSpec &target,
                                                  support::DiagnosticEngine &diagnostics) {
  const auto &replacement = request.replacement;
  const std::string replaced = replacement ? "\n" + replacement->stage + " " + replacement->text : "";
  if (input.kernel) {
    request.signature = input.kernel->signature;
    request.sources = input.kernel->sources;
    request.key = driver::cacheKey(input.kernel->request, input.kernel->sourceKey + replaced, input.kernel->signature);
    return driver::compile(context, input.kernel->request, *input.kernel->host, request, diagnostics);
  }
  sema::KernelRequest described; // no function: options and target, for the key
  described.options = options;
  described.target = target;
  request.key = driver::cacheKey(described, input.text + replaced, "ttir");
  request.sources = {std::make_shared<support::SourceFile>(input.path, input.text)};
  request.makeSource = [&] { return input.text; };
  auto module = driver::parse(context, input.text, input.path, diagnostics);
  auto result = module ? driver::back(*module, options, target, request, diagnostics) : std::nullopt;
  driver::releaseIfCancelled(module, diagnostics);
  return result;
}

/// The median of each phase over the compilations.
static std::vector<driver::PhaseTime> medianTimes(const std::vector<std::vector<driver::PhaseTime>> &runs) {
  std::vector<driver::PhaseTime> medians = runs.back();
  for (auto [index, median] : llvm::enumerate(medians)) {
    std::vector<double> times;
    for (const auto &run : runs)
      times.push_back(run[index].microseconds);
    llvm::sort(times);
    median.microseconds = times[times.size() / 2];
  }
  return medians;
}

int tools::runCompile(const CompileArguments &arguments) {
  auto [backend, arch] = llvm::StringRef(arguments.target).split(':');
  std::string reason;
  auto target = driver::resolveTarget(backend.str(), arch.str(), reason);
  if (!target)
    return fail(reason);
  const artifact::TargetInfo &info = artifact::targetInfo(target->backend);
  const std::vector<std::string> known = driver::stageNames(target->backend),
                                 steps = driver::stepStageNames(target->backend);
  const std::vector<std::string> emit = stagesOf(arguments, info);
  for (const std::string &stage : emit)
    if (stage != "artifact" && !llvm::is_contained(known, stage) && !llvm::is_contained(steps, stage))
      return fail(noStage(target->backend, stage, known, steps));

  const bool isCubinWanted = info.usesCudaTools && llvm::is_contained(emit, info.binaryStage);
  if (isCubinWanted && target->features.find(artifact::kSimulated) != std::string::npos)
    return fail("a simulated GPU has no machine code; write --emit ptx");
  std::optional<CudaTools> cudaTools = CudaTools();
  const bool isBinaryWanted = wantsBinary(emit, target->backend);
  if (info.usesCudaTools && isBinaryWanted)
    cudaTools = findCudaTools(arguments.cudaTools, reason);
  if (!cudaTools)
    return fail(reason);
  if (isCubinWanted && cudaTools->empty())
    return fail(noCubin(*cudaTools, target->arch));

  support::Options options;
  options.numWarps = arguments.numWarps;
  options.numStages = arguments.numStages;
  options.numCtas = arguments.numCtas;
  options.wavesPerEu = arguments.wavesPerEu;
  options.matrixInstrNonKDim = arguments.matrixInstrNonKDim;
  options.kpack = arguments.kpack;
  options.useBufferOps = !arguments.noBufferOps;
  options.useAsyncCopy = arguments.asyncCopy;
  options.debug = arguments.debug;
  options.enableFpFusion = !arguments.noFpFusion;
  const auto sanitizers = support::parseSanitizers(arguments.sanitize, reason);
  if (!sanitizers)
    return fail("--sanitize: " + reason);
  options.sanitize = *sanitizers;
  options.reproducerPath = arguments.reproducerPath;
  options.ownLauncher = arguments.abi == "own";
  support::DiagnosticEngine diagnostics;
  Input input = readInput(arguments, options, *target, diagnostics);
  if (!input.problem.empty())
    return fail(input.problem);
  if (diagnostics.hasErrors())
    return showDiagnostics(diagnostics);

  driver::Request request;
  request.keep = emit;
  request.keepsBinary = isBinaryWanted;
  request.tools = {cudaTools->ptxas, cudaTools->nvJitLink, arguments.ptxasTimeout};
  if (const std::string problem = readReplacement(arguments.irOverride, request); !problem.empty())
    return fail(problem);
  std::unique_ptr<mlir::MLIRContext> context = driver::createContext();
  std::vector<std::vector<driver::PhaseTime>> times;
  for (unsigned repeat = 1; repeat < arguments.repeats; ++repeat) {
    support::DiagnosticEngine repeated; // the last compilation reports
    if (auto result = compileInput(input, *context, request, options, *target, repeated))
      times.push_back(std::move(result->times));
  }
  auto result = compileInput(input, *context, request, options, *target, diagnostics);
  if (!result) {
    driver::releaseIfCancelled(context, diagnostics);
    return showDiagnostics(diagnostics);
  }
  times.push_back(result->times);
  if (isCubinWanted && result->artifact.tool == "driver")
    return fail(noCubin(*cudaTools, target->backend + ":" + target->arch));
  for (const std::string &stage : emit) {
    std::optional<std::string> data = stage == "artifact" ? std::optional(artifact::serialize(result->artifact))
                                                          : driver::stage(result->artifact, stage, diagnostics);
    std::string problem;
    if (!data)
      return showDiagnostics(diagnostics);
    if (stage == "ttir" && arguments.noLocations)
      data = withoutLocations(*context, *data, diagnostics);
    if (!writeStage(arguments.output, result->artifact.name, stage, *data, problem))
      return fail(problem);
  }
  if (arguments.timing)
    for (const driver::PhaseTime &time : medianTimes(times))
      llvm::errs() << llvm::formatv("{0,-8} {1,10:F1} us\n", time.phase, time.microseconds);
  llvm::errs() << diagnostics.render(); // warnings
  return 0;
}
