// Compiles a kernel request, or a module's text, to an artifact: runs the phases of a target in order.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "compiler/explain/Estimate.h"
#include "compiler/sema/Sema.h"
#include "compiler/support/Diagnostic.h"

#include "mlir/IR/MLIRContext.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nereid::driver {

/// Where a compilation stops and what it keeps; a stage that is not kept can be derived again from the artifact's TTIR.
struct Request {
  /// Tools that finish the code, found by the caller; an empty path where a tool is missing.
  struct Tools {
    std::string ptxas;
    std::string nvJitLink;       ///< path of the shared library
    uint32_t secondsLimit = 600; ///< for each run of either; 0: none
  };

  /// A stage that the user replaces; the compiler's own result for it is discarded (`ir_override`).
  struct Replacement {
    std::string stage;
    std::string text;
    std::string path; ///< for messages
  };

  std::vector<std::string> keep; ///< stages to put into the artifact besides the binary: "ttir", "llir", "asm"
  bool keepsBinary = true;       ///< false: only `keep` is needed, phases after the last of it do not run
  Tools tools;
  std::optional<Replacement> replacement;
  /// The launch that the code is for: the result has an estimate of it, and code that it cannot run is not generated
  /// but reported as the error `cannot-launch`.
  std::optional<explain::LaunchShape> launch;
  std::string key;       ///< names the compilation (Artifact::hash)
  std::string signature; ///< as the command line's --signature
  /// Name, kind, type and position of each run-time parameter, as in the source; derived from the module's function
  /// where empty. Offsets and sizes are filled in later.
  std::vector<artifact::Parameter> parameters;
  /// Makes the text of the module that `back` gets, for a reproducer of a failure of the passes that change it in
  /// place. Called by the thread that calls `back`.
  std::function<std::string()> makeSource;
  /// The sources that the module's locations may refer to, for messages.
  std::vector<std::shared_ptr<const support::SourceFile>> sources;
  /// Polled during code generation; true cancels the compilation with the error `interrupted`. Context and module then
  /// stay in use for a while: neither may be destroyed.
  std::function<bool()> isCancelRequested;
  /// Gets the remarks of finished phases once a later one has run for a second; called by the thread that calls `back`.
  /// They are among the diagnostics of a success again.
  std::function<void(const support::DiagnosticEngine &)> showRemarks;
};

/// The time of one phase.
struct PhaseTime {
  std::string phase;
  double microseconds = 0;
};

struct Result {
  artifact::Artifact artifact;
  std::vector<PhaseTime> times;
  std::optional<explain::Estimate> estimate; ///< where the request has a launch, and the target a model
};

/// A context with all dialects loaded; it must not be used by two threads at once.
std::unique_ptr<mlir::MLIRContext> createContext();
/// The dialects of such a context, with what targets add to them.
void registerDialects(mlir::DialectRegistry &registry);

/// The two halves of a compilation: the first needs the host, the second does not. Nothing on failure; `diagnostics`
/// then holds at least one error.
mlir::OwningOpRef<mlir::ModuleOp> front(mlir::MLIRContext &context, const sema::KernelRequest &kernel,
                                        sema::HostEnv &host, support::DiagnosticEngine &diagnostics);
std::optional<Result> back(mlir::ModuleOp module, const support::Options &options, const support::TargetSpec &target,
                           const Request &request, support::DiagnosticEngine &diagnostics);

/// The run-time parameters of an argument: none for a constant, one for a number or a pointer, the parts of a
/// descriptor in the order of the plain ABI, those of all elements for a tuple.
std::vector<artifact::Parameter> parametersOf(const sema::KernelArgument &arg, const std::string &name,
                                              uint32_t position);

/// A module from TTIR text (`name` is used in messages).
mlir::OwningOpRef<mlir::ModuleOp> parse(mlir::MLIRContext &context, const std::string &text, const std::string &name,
                                        support::DiagnosticEngine &diagnostics);

/// A module whose kernel has the name and the parameters of the one in `written`, and an empty body: the input of
/// `back` where `written` is a later stage than TTIR. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> declarationOf(mlir::ModuleOp written, support::DiagnosticEngine &diagnostics);

/// Inlines and simplifies a module of `front` in place, as every target does first. False after an error.
bool optimise(mlir::ModuleOp module, bool fusesFloats, support::DiagnosticEngine &diagnostics);

/// `stage` of a finished kernel ("ttir", "llir", "asm", "launcher.so"), from the artifact or derived again from its
/// TTIR. Nothing where the target has no such stage.
/// `sources` are the files that its locations may refer to, for texts that quote them.
std::optional<std::string> stage(const artifact::Artifact &artifact, const std::string &stage,
                                 support::DiagnosticEngine &diagnostics,
                                 const std::vector<std::shared_ptr<const support::SourceFile>> &sources = {});
/// The names of a target's stages, in order.
std::vector<std::string> stageNames(const std::string &backend);
/// The stages of a target that the text of a user may replace.
std::vector<std::string> replaceableStages(const std::string &backend);
/// Whether a stage of the target is no text: the binary that a device loads, and what is made of it.
bool isBinaryStage(const std::string &backend, const std::string &stage);
/// The names of the stages between the steps of a phase ("plan.vectorise"), and of further texts ("plan.json");
/// `Request::keep` may name them, too.
std::vector<std::string> stepStageNames(const std::string &backend);
/// "OWNER has no stage `tir`; did you mean `ttir`?; it has source, ttir, ...", with `more` after the target's stages.
std::string noStage(const std::string &owner, const std::string &backend, const std::string &stage,
                    const std::vector<std::string> &more = {});

/// The text of a module as in `asm["ttir"]`. Without names, values have MLIR's own names: `%0`, `%c1_i32`.
std::string printModule(mlir::ModuleOp module, bool withLocations = true, bool withNames = true);

/// The targets that this build compiles for.
std::vector<std::string> targetNames();

/// The exact target for a user's words: ("cpu", "") is the CPU of the host.
std::optional<support::TargetSpec> resolveTarget(const std::string &backend, const std::string &arch,
                                                 std::string &reason);

/// The options without `ownLauncher` where the target or another option rules it out.
support::Options effectiveOptions(support::Options options, const support::TargetSpec &target);

/// An identifier that changes with every change of the compiler or of its embedded library.
std::string buildId();

/// The key of a compilation: a hash of everything that its result depends on, as lower-case hex.
std::string cacheKey(const sema::KernelRequest &kernel, const std::string &sourceKey, const std::string &signature);

/// What the key of a compilation in packs is the hash of: the same for every build, and wherever libraries are.
std::string packInputs(const sema::KernelRequest &kernel, const std::string &sourceKey, const std::string &signature);

/// The hash of keys, as lower-case hex.
std::string hashOf(llvm::StringRef bytes);

} // namespace nereid::driver
