// The interface between the driver and a target: its names, and its phases from `tt` to a binary as a table.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/TargetInfo.h"
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/PassDiagnostics.h"
#include "compiler/explain/Explanation.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <mutex>

namespace nereid::driver {

/// The state that a target's phases pass on to one another.
struct TargetState {
  virtual ~TargetState() = default;
};

/// A state that holds a `Kernel`, for a target whose phases work on one.
template <typename Kernel> struct KernelState : TargetState {
  explicit KernelState(std::unique_ptr<Kernel> kernel) : kernel(std::move(kernel)) {}
  std::unique_ptr<Kernel> kernel;
};

/// The remarks of finished phases, for the caller's thread.
struct EarlyRemarks {
  std::mutex guard;
  std::unique_ptr<support::DiagnosticEngine> ready; ///< null: none, or shown
  std::chrono::steady_clock::time_point since;
};

/// One kernel between two phases. It owns everything but the caller's module, since it may outlive its caller.
struct Compilation {
  Compilation(mlir::ModuleOp module, const support::Options &options, const support::TargetSpec &target,
              Request request);

  /// Whether the request asks for the text of that stage.
  bool keeps(llvm::StringRef stage) const;
  /// The user's replacement text for that stage; null where there is none.
  const Request::Replacement *replacementOf(llvm::StringRef stage) const;
  /// Hands the remarks so far to the caller's thread, if it shows them.
  void publishRemarks();

  mlir::ModuleOp module;
  tt::FuncOp kernel;
  mlir::OwningOpRef<mlir::ModuleOp> written; ///< by the user, as a replacement of `module`
  const char *phase = "source";              ///< the one that runs
  const support::Options options;
  const support::TargetSpec target;
  Request request;
  PassDiagnostics messages;              ///< diagnostics that passes and targets emit through MLIR
  support::DiagnosticEngine diagnostics; ///< errors in a replacement text of the user
  std::unique_ptr<TargetState> state;
  Result result;
  const bool showsRemarks;
  EarlyRemarks early;
};

/// The stage after a step of a phase: "plan.vectorise".
std::string stageAfterStep(llvm::StringRef phase, llvm::StringRef step);

/// A further text of a phase's result, made only where a request asks for it, by `stageAfterStep`.
struct View {
  const char *name;
  mlir::FailureOr<std::string> (*print)(Compilation &work);
};

/// One step of a compilation, which produces the stage of its name.
struct Phase {
  const char *name;
  /// Consumes the result of the previous phase; null for a stage that is only another text of it.
  mlir::LogicalResult (*run)(Compilation &work);
  /// Prints the stage; null for the binary, which `Backend::finish` stores.
  mlir::FailureOr<std::string> (*print)(Compilation &work);
  /// Parses the user's text instead of `run`; null where users cannot replace the stage.
  mlir::LogicalResult (*parse)(Compilation &work, const Request::Replacement &text);
  /// The steps after which `run` keeps the stage, by `stageAfterStep`, where the request asks for it.
  std::vector<const char *> steps = {};
  std::vector<View> views = {};
};

/// One target. A new target is a file with such a record, and its line in Backends.cpp.
struct Backend {
  const artifact::TargetInfo &info;
  /// The exact target for an architecture as users write it; an empty one means the default.
  std::optional<support::TargetSpec> (*resolve)(const std::string &arch, std::string &reason);
  std::vector<Phase>
      phases; ///< in order: "source", which is the front end's module, "ttir", the target's own, the binary
  std::vector<const char *> extras; ///< stages derived from the artifact alone
  /// The error where a tool of the target exceeds the request's time limit, of the kernel's name and the seconds; null
  /// for a target without tools.
  const support::DiagnosticKind *toolTimeout;
  /// Explains the kernel after the phase "plan", but for the remarks of passes.
  explain::Explanation (*explainKernel)(Compilation &work);
  /// Estimates a launch after the phase "plan"; null for a target without such a model.
  explain::Estimate (*estimateLaunch)(Compilation &work, const explain::LaunchShape &launch);
  /// Whether `Options::ownLauncher` has a meaning with these options; null for a target without such a launcher.
  bool (*allowsOwnLauncher)(const support::Options &options, const support::TargetSpec &target);
  /// Adds the passes from the front end's module to the stage "ttir".
  void (*addTtirPasses)(mlir::OpPassManager &passes, const Compilation &work);
  /// Runs between "ttir" and the target's own phases: checks the options against the target and creates `state`.
  mlir::LogicalResult (*begin)(Compilation &work);
  /// Runs after the last requested phase: stores the binary, the parameters' offsets and the launch properties.
  void (*finish)(Compilation &work);

  llvm::ArrayRef<Phase> untilTtir() const;
  llvm::ArrayRef<Phase> afterTtir() const;
  std::vector<std::string> stages() const;
  /// The names of the stages after steps of phases, and of views; a user sees them only where a request asks for them.
  std::vector<std::string> stepStages() const;
  std::vector<std::string> replaceable() const;
};

extern const Backend cpuBackend;
extern const Backend cudaBackend;
extern const Backend hipBackend;

/// Null for an unknown name.
const Backend *findBackend(llvm::StringRef name);

/// Runs phases in order, up to the last one that the request needs: each is timed, verified in builds with assertions,
/// replaced where the user has replaced its stage, and printed where its stage is kept. True where a later phase is
/// needed.
mlir::FailureOr<bool> runPhases(Compilation &work, llvm::ArrayRef<Phase> phases);

/// Whether tiles have layouts already: a kernel of Gluon, which has no stage "ttir", or a text of `ttg`.
bool isTtg(mlir::ModuleOp module);

// --- for the targets' tables ---
mlir::LogicalResult makeTtir(Compilation &work);
mlir::FailureOr<std::string> printTtir(Compilation &work);
/// Runs the pipeline first: the user's kernel is checked against its result.
mlir::LogicalResult parseTtir(Compilation &work, const Request::Replacement &text);
/// Replaces the module by that of the user's text, whose kernel must have the same parameters.
mlir::LogicalResult parseModule(Compilation &work, const Request::Replacement &text);
/// Whether the user's file is ELF code for that machine with the kernel's symbol; reports an error otherwise.
bool checkBinary(Compilation &work, const Request::Replacement &file, uint16_t machine);
/// Records which of the artifact's parameters the kernel writes through.
void describeWrites(Compilation &work);

/// The explanation with the remarks of passes: as text, as JSON, as SVG.
std::vector<View> explanationViews();
mlir::FailureOr<std::string> printExplanation(Compilation &work);

/// 1 for a kernel with a reduction, even where it uses no shared memory: users' occupancy arithmetic divides by this.
uint32_t leastSharedBytes(mlir::ModuleOp module);

/// Stores the offsets that a target chose in the artifact's parameters; those that the launcher makes follow them.
template <typename Params> void setParameterOffsets(artifact::Artifact &artifact, const Params &params) {
  for (size_t index = 0; index < artifact.parameters.size(); ++index) {
    artifact.parameters[index].offset = params[index].offset;
    artifact.parameters[index].size = params[index].size;
  }
}

} // namespace nereid::driver
