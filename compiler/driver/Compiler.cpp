// Runs the phases of a compilation in order and gathers their results into an artifact.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"

#include "compiler/analysis/WrittenArguments.h"
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/driver/Backend.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/Replacement.h"
#include "compiler/passes/tt/Pipeline.h"
#include "compiler/support/FatalGuard.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"

#include <chrono>

using namespace nereid;
using namespace nereid::driver;

namespace {
/// Measures the phases; each call of `end` closes the one that began last.
class PhaseClock {
public:
  explicit PhaseClock(std::vector<PhaseTime> &times) : times(times), began(now()) {}
  void end(const char *phase) {
    const auto ended = now();
    times.push_back({phase, std::chrono::duration<double, std::micro>(ended - began).count()});
    began = ended;
  }

private:
  static std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }
  std::vector<PhaseTime> &times;
  std::chrono::steady_clock::time_point began;
};

/// "file:line:column: " of the innermost place that is in a file.
std::string placeText(mlir::Location location) {
  if (auto named = llvm::dyn_cast<mlir::NameLoc>(location))
    return placeText(named.getChildLoc());
  if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(location))
    return placeText(call.getCallee());
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location); fused && !fused.getLocations().empty())
    return placeText(fused.getLocations().front());
  auto range = llvm::dyn_cast<mlir::FileLineColRange>(location);
  if (!range)
    return "";
  return llvm::formatv("{0}:{1}:{2}: ", range.getFilename().getValue(), range.getStartLine(), range.getStartColumn()).str();
}

/// Turns what passes say through MLIR into our diagnostics.
class PassDiagnostics {
public:
  PassDiagnostics(mlir::MLIRContext *context, support::DiagnosticEngine &diagnostics)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          const auto severity = diagnostic.getSeverity();
          if (severity == mlir::DiagnosticSeverity::Error)
            append(text, diagnostic);
          else if (severity == mlir::DiagnosticSeverity::Remark)
            append(remarks, diagnostic);
          return mlir::success();
        }),
        diagnostics(diagnostics) {}
  void report(const support::DiagnosticKind &kind) {
    diagnostics.report(kind, {}, text.empty() ? "a pass failed without a message" : text);
  }

  void reportRemarks(const support::DiagnosticKind &kind) {
    if (!remarks.empty())
      diagnostics.report(kind, {}, remarks);
  }

private:
  static void append(std::string &lines, const mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream os(lines);
    os << (lines.empty() ? "" : "\n") << placeText(diagnostic.getLocation()) << diagnostic;
  }

  std::string text, remarks;
  mlir::ScopedDiagnosticHandler handler;
  support::DiagnosticEngine &diagnostics;
};
} // namespace

//--- Parameters --------------------------------------------------------------------------------

static artifact::ParameterKind kindOf(const sema::Type &type) {
  if (type.isPointer)
    return artifact::ParameterKind::Pointer;
  if (type.isBool())
    return artifact::ParameterKind::Bool;
  return type.isFloat() ? artifact::ParameterKind::Float : artifact::ParameterKind::Int;
}

static std::string signatureText(const sema::Type &type) {
  const std::string scalar = sema::signatureOf(type.scalar).str();
  return type.isPointer ? (type.isConst ? "*k" : "*") + scalar : scalar;
}

static artifact::Parameter parameterOf(const sema::Type &type, const std::string &name, uint32_t position) {
  artifact::Parameter parameter;
  parameter.name = name;
  parameter.kind = kindOf(type);
  parameter.type = signatureText(type);
  parameter.position = position;
  return parameter;
}

std::vector<artifact::Parameter> driver::parametersOf(const sema::Type &type, const std::string &name,
                                                      uint32_t position) {
  if (!type.isDescriptor)
    return {parameterOf(type, name, position)};
  using sema::Scalar;
  std::vector<artifact::Parameter> parameters{
      parameterOf(sema::Type::pointerTo(type.scalar, type.isConst), name, position)};
  auto addEach = [&](const char *what, Scalar scalar) {
    for (size_t dim = 0; dim < type.shape.size(); ++dim)
      parameters.push_back(parameterOf(sema::Type(scalar), name + what + std::to_string(dim), position));
  };
  addEach(".shape.", Scalar::Int64);
  addEach(".stride.", Scalar::Int64);
  parameters.push_back(parameterOf(sema::Type(Scalar::Int1), name + ".padding", position));
  parameters.push_back(parameterOf(sema::Type(Scalar::Int1), name + ".round_f32_to_tf32", position));
  addEach(".shape.", Scalar::Int32);
  addEach(".stride.", Scalar::Int64);
  return parameters;
}

static std::vector<artifact::Parameter> allParametersOf(const sema::KernelRequest &kernel) {
  std::vector<artifact::Parameter> parameters;
  for (auto [position, arg] : llvm::enumerate(kernel.args))
    if (!arg.constant)
      llvm::append_range(parameters,
                         driver::parametersOf(arg.type, kernel.kernel->definition->parameters[position].name.str(),
                                              static_cast<uint32_t>(position)));
  return parameters;
}

/// From the function alone: integers count as signed, as IR has it.
static artifact::Parameter parameterOf(mlir::BlockArgument argument) {
  artifact::Parameter parameter;
  parameter.position = argument.getArgNumber();
  parameter.name = "arg" + std::to_string(argument.getArgNumber());
  if (auto named = llvm::dyn_cast<mlir::NameLoc>(argument.getLoc()))
    parameter.name = named.getName().str();
  mlir::Type type = argument.getType();
  const auto pointer = llvm::dyn_cast<tt::PointerType>(type);
  if (pointer)
    type = pointer.getPointee();
  std::string text;
  llvm::raw_string_ostream(text) << type; // "f32", "bf16", "i32"
  if (text.front() == 'f')
    text = "fp" + text.substr(1);
  parameter.type = (pointer ? "*" : "") + (text == "i1" ? "u1" : text);
  parameter.kind = pointer                                ? artifact::ParameterKind::Pointer
                   : text == "i1"                         ? artifact::ParameterKind::Bool
                   : llvm::isa<mlir::FloatType>(type)     ? artifact::ParameterKind::Float
                                                          : artifact::ParameterKind::Int;
  return parameter;
}

static void describeWrites(artifact::Artifact &artifact, tt::FuncOp kernel) {
  const llvm::SmallBitVector written = analysis::writtenArguments(kernel);
  for (auto [index, parameter] : llvm::enumerate(artifact.parameters))
    parameter.isWritten = index >= written.size() || written[index];
}

//--- Phases ------------------------------------------------------------------------------------

mlir::OwningOpRef<mlir::ModuleOp> driver::front(mlir::MLIRContext &context, const sema::KernelRequest &kernel,
                                                sema::HostEnv &host, support::DiagnosticEngine &diagnostics) {
  return sema::emitKernel(context, kernel, host, diagnostics);
}

static bool optimise(mlir::ModuleOp module, const support::Options &options, support::DiagnosticEngine &diagnostics) {
  PassDiagnostics said(module.getContext(), diagnostics);
  mlir::PassManager passes(module.getContext());
#ifdef NDEBUG
  passes.enableVerifier(false);
#endif
  tt::buildOptimisePipeline(passes, options.enableFpFusion);
  if (mlir::succeeded(passes.run(module)))
    return true;
  said.report(diag::PassFailed);
  return false;
}

static void describeOptions(artifact::Artifact &artifact, const support::Options &options) {
  auto number = [](uint64_t value) { return std::to_string(value); };
  auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  artifact.options = {{"num_warps", number(options.numWarps)},
                      {"num_stages", number(options.numStages)},
                      {"num_ctas", number(options.numCtas)},
                      {"maxnreg", options.maxRegisters ? number(options.maxRegisters) : "null"},
                      {"enable_fp_fusion", flag(options.enableFpFusion)},
                      {"debug", flag(options.debug)},
                      {"sanitize_overflow", flag(options.sanitizeOverflow)},
                      {"launch_cooperative_grid", flag(options.cooperativeGrid)},
                      {"launch_pdl", flag(options.programmaticLaunch)}};
  if (options.ptxVersion)
    artifact.options["ptx_version"] = number(options.ptxVersion);
  artifact.cooperative = options.cooperativeGrid;
  artifact.programmaticLaunch = options.programmaticLaunch;
  artifact.clusterDims = {options.numCtas, 1, 1};
}

/// The kernel's TTIR as a file that shows the problem again; where it was written.
static std::string writeReproducer(const artifact::Artifact &artifact) {
  llvm::SmallString<128> path;
  int descriptor;
  if (llvm::sys::fs::createTemporaryFile("nereid-" + artifact.name, "ttir", descriptor, path))
    return "(no file: the temporary folder cannot be written)";
  llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
  file << *artifact.findStage("ttir");
  return path.str().str();
}

std::optional<Result> driver::back(mlir::ModuleOp module, const support::Options &options,
                                   const support::TargetSpec &target, const Request &request,
                                   support::DiagnosticEngine &diagnostics) {
  Result result;
  PhaseClock clock(result.times);
  const Backend *backend = findBackend(target.backend);
  tt::FuncOp kernel = kernelOf(module, diagnostics);
  if (!kernel)
    return std::nullopt;
  backend->prepare(module);
  if (!optimise(module, options, diagnostics))
    return std::nullopt;
  // From `ttgir` on the text is what follows from the module that stands in its place.
  mlir::OwningOpRef<mlir::ModuleOp> written;
  const std::string made = request.replacement && request.replacement->stage != "ttir" ? printModule(module) : "";
  if (const auto &replacement = request.replacement) {
    if (!checkReplaceable(*replacement, *backend, diagnostics))
      return std::nullopt;
    if (replacement->stage == "ttir" || replacement->stage == "ttgir") {
      written = readReplacement(*replacement, kernel, diagnostics);
      kernel = written ? kernelOf(*written, diagnostics) : tt::FuncOp();
      if (!kernel)
        return std::nullopt;
      module = *written;
    }
  }
  clock.end("ttir");

  artifact::Artifact &artifact = result.artifact;
  artifact.name = artifact.entry = kernel.getSymName().str();
  artifact.hash = request.key;
  artifact.signature = request.signature;
  artifact.target = {target.backend, target.arch, target.features, 32};
  describeOptions(artifact, options);
  artifact.parameters = request.parameters;
  if (artifact.parameters.empty())
    for (mlir::BlockArgument argument : kernel.getArguments())
      artifact.parameters.push_back(parameterOf(argument));
  describeWrites(artifact, kernel);
  artifact.stages.push_back({"ttir", made.empty() ? printModule(module) : made});
  if (request.stopAfter == "ttir")
    return result;
  PassDiagnostics said(module.getContext(), diagnostics);
  const Request own = withAllStages(request, *backend);
  const BackendJob job{module, options, target, own};
  mlir::LogicalResult finished = mlir::failure();
  const std::optional<std::string> fatal = support::runGuarded([&] { finished = backend->finish(job, artifact); });
  if (fatal) {
    (void)written.release(); // its state is unknown
    diagnostics.report(diag::CompilerBug, {}, *fatal, writeReproducer(artifact));
    return std::nullopt;
  }
  if (mlir::failed(finished)) {
    said.report(diag::TargetFailed);
    return std::nullopt;
  }
  said.reportRemarks(diag::TargetRemark);
  clock.end(target.backend == "cpu" ? "so" : "cubin");
  return result;
}

std::optional<Result> driver::compile(mlir::MLIRContext &context, const sema::KernelRequest &kernel,
                                      sema::HostEnv &host, const Request &request,
                                      support::DiagnosticEngine &diagnostics) {
  std::vector<PhaseTime> times;
  PhaseClock clock(times);
  mlir::OwningOpRef<mlir::ModuleOp> module = front(context, kernel, host, diagnostics);
  if (!module)
    return std::nullopt;
  clock.end("sema");
  Request withParameters = request;
  if (withParameters.parameters.empty())
    withParameters.parameters = allParametersOf(kernel);
  std::optional<Result> result = back(*module, kernel.options, kernel.target, withParameters, diagnostics);
  if (result)
    result->times.insert(result->times.begin(), times.begin(), times.end());
  return result;
}
