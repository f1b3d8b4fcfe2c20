// From a kernel request, or a module's text, to an artifact: the phases of a target in order.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "compiler/sema/Sema.h"
#include "compiler/support/Diagnostic.h"

#include "mlir/IR/MLIRContext.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nereid::driver {

/// Where a compilation may stop and what it keeps; a stage that is not kept
/// can be derived again from the artifact's TTIR.
struct Request {
  /// Programs of the machine that finish the code, found by the caller; empty where not there.
  struct Tools {
    std::string ptxas;
    std::string nvJitLink;       ///< path of the shared library
    uint32_t secondsLimit = 600; ///< for each run of either; 0: none
  };

  /// A stage as the user has written it; what was made up to there is thrown away (`ir_override`).
  struct Replacement {
    std::string stage;
    std::string text;
    std::string path; ///< for messages
  };

  std::vector<std::string> keep; ///< stages to put into the artifact besides the binary: "ttir", "llir", "asm"
  bool keepsBinary = true;       ///< false: only `keep` is wanted, phases after the last of it are left out
  Tools tools;
  std::optional<Replacement> replacement;
  std::string key;       ///< names the compilation (Artifact::hash)
  std::string signature; ///< as the command line's --signature
  /// Name, kind, type and position of each run-time parameter, as the source has them; taken from the
  /// module's function where empty. Offsets and sizes are filled in.
  std::vector<artifact::Parameter> parameters;
  /// The texts that the module's locations may point into, for messages.
  std::vector<std::shared_ptr<const support::SourceFile>> sources;
  /// Asked now and then while code is made, where the caller may want to stop; true ends the compilation with the
  /// error `interrupted`. Context and module then stay in use for a while: neither may be destroyed.
  std::function<bool()> isCancelRequested;
};

/// How long one phase took.
struct PhaseTime {
  std::string phase;
  double microseconds = 0;
};

struct Result {
  artifact::Artifact artifact;
  std::vector<PhaseTime> times;
};

/// A context that holds every dialect of ours; not to be used by two threads at once.
std::unique_ptr<mlir::MLIRContext> createContext();

/// A kernel from its text. Nothing on failure; `diagnostics` then holds at least one error.
std::optional<Result> compile(mlir::MLIRContext &context, const sema::KernelRequest &kernel, sema::HostEnv &host,
                              const Request &request, support::DiagnosticEngine &diagnostics);

/// The two halves of `compile`: what needs the host, and what needs none of it.
mlir::OwningOpRef<mlir::ModuleOp> front(mlir::MLIRContext &context, const sema::KernelRequest &kernel,
                                        sema::HostEnv &host, support::DiagnosticEngine &diagnostics);
std::optional<Result> back(mlir::ModuleOp module, const support::Options &options, const support::TargetSpec &target,
                           const Request &request, support::DiagnosticEngine &diagnostics);

/// The run-time parameters that an argument is: none of a constant, one of a number or a pointer, the parts of a
/// descriptor in the order of the plain ABI, those of all elements of a tuple.
std::vector<artifact::Parameter> parametersOf(const sema::KernelArgument &arg, const std::string &name,
                                              uint32_t position);

/// A module from TTIR text (`name` is used in messages).
mlir::OwningOpRef<mlir::ModuleOp> parse(mlir::MLIRContext &context, const std::string &text, const std::string &name,
                                        support::DiagnosticEngine &diagnostics);

/// A module whose kernel has the name and the parameters of the one in `written`, and does nothing: what `back` takes
/// where `written` is a later stage than TTIR. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> declarationOf(mlir::ModuleOp written, support::DiagnosticEngine &diagnostics);

/// `stage` of a finished kernel ("ttir", "llir", "asm", "launcher.so"), from what the artifact keeps or
/// derived again from its TTIR. Nothing where the target has no such stage.
std::optional<std::string> stage(const artifact::Artifact &artifact, const std::string &stage,
                                 support::DiagnosticEngine &diagnostics);
/// The names of a target's stages, in order.
std::vector<std::string> stageNames(const std::string &backend);

/// Text of a module as `asm["ttir"]` has it. Without names values are called by MLIR: `%0`, `%c1_i32`.
std::string printModule(mlir::ModuleOp module, bool withLocations = true, bool withNames = true);

/// The exact target for what a user wrote: ("cpu", "") is this host.
std::optional<support::TargetSpec> resolveTarget(const std::string &backend, const std::string &arch,
                                                 std::string &reason);

/// Changes with every change of the compiler or of the library embedded in it.
std::string buildId();

/// The key of a compilation: everything that its result depends on, as lower-case hex.
std::string cacheKey(const sema::KernelRequest &kernel, const std::string &sourceKey, const std::string &signature);

} // namespace nereid::driver
