// Implements `nereid compile`: writes a kernel's stages to files or standard output.
// SPDX-License-Identifier: MIT
#include "tools/nereid/Commands.h"

#include "artifact/TargetInfo.h"
#include "compiler/driver/Compiler.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
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

jit::SourceName tools::sourceName(llvm::StringRef source, const std::string &signature) {
  auto [path, kernel] = source.rsplit(':');
  const bool isName = !kernel.empty() && llvm::all_of(kernel, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!isName || path.size() == source.size())
    return {source.str(), "", signature};
  return {path.str(), kernel.str(), signature};
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

static std::string withoutLocations(const std::string &ttir, support::DiagnosticEngine &diagnostics) {
  const auto context = driver::createContext();
  auto module = driver::parse(*context, ttir, "ttir", diagnostics);
  return module ? driver::printModule(*module, /*withLocations=*/false) : "";
}

/// What is wrong with --signature, which the kernel of a source has and that of a module has not.
static std::string signatureProblem(const CompileArguments &arguments) {
  const llvm::StringRef extension = llvm::sys::path::extension(arguments.source);
  if (extension != ".ttir" && extension != ".ttgir")
    return arguments.signature.empty() ? "--signature is required for a kernel of a .py file" : "";
  return arguments.signature.empty()
             ? ""
             : ("a " + extension + " file has the types of its kernel; it takes no --signature").str();
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
      return fail(driver::noStage("target `" + target->backend + "`", target->backend, stage, {"artifact"}));

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

  if (const std::string problem = signatureProblem(arguments); !problem.empty())
    return fail(problem);
  support::DiagnosticEngine diagnostics;
  auto input =
      jit::readJob(sourceName(arguments.source, arguments.signature), arguments.options, *target, diagnostics, reason);
  if (!reason.empty())
    return fail(reason);
  if (!input)
    return showDiagnostics(diagnostics);

  driver::Request &request = input->job.request;
  request.keep = emit;
  request.keepsBinary = isBinaryWanted;
  request.tools = {cudaTools->ptxas, cudaTools->nvJitLink, arguments.ptxasTimeout};
  const jit::Session session;
  std::vector<std::vector<driver::PhaseTime>> times;
  for (unsigned repeat = 1; repeat < arguments.repeats; ++repeat) {
    support::DiagnosticEngine repeated; // the last compilation reports
    if (auto result = session.build(input->job, repeated))
      times.push_back(std::move(result->times));
  }
  const auto result = session.build(input->job, diagnostics);
  if (!result)
    return showDiagnostics(diagnostics);
  const artifact::Artifact &artifact = *result->artifact;
  times.push_back(result->times);
  if (isCubinWanted && artifact.tool == "driver")
    return fail(noCubin(*cudaTools, target->backend + ":" + target->arch));
  for (const std::string &stage : emit) {
    std::optional<std::string> data = stage == "artifact" ? std::optional(artifact::serialize(artifact))
                                                          : driver::stage(artifact, stage, diagnostics);
    std::string problem;
    if (!data)
      return showDiagnostics(diagnostics);
    if (stage == "ttir" && arguments.noLocations)
      data = withoutLocations(*data, diagnostics);
    if (!writeStage(arguments.output, artifact.name, stage, *data, problem))
      return fail(problem);
  }
  if (arguments.timing)
    for (const driver::PhaseTime &time : medianTimes(times))
      llvm::errs() << llvm::formatv("{0,-8} {1,10:F1} us\n", time.phase, time.microseconds);
  llvm::errs() << diagnostics.render(); // warnings
  return 0;
}
