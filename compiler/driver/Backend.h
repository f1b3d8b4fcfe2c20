// What the driver asks of a target: its names, and its phases from `tt` to a binary as data.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/PassDiagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringRef.h"

namespace nereid::driver {

/// What a target's phases hand on to one another.
struct TargetState {
  virtual ~TargetState() = default;
};

/// It, for a target whose phases work on a `Kernel`.
template <typename Kernel> struct KernelState : TargetState {
  explicit KernelState(std::unique_ptr<Kernel> kernel) : kernel(std::move(kernel)) {}
  std::unique_ptr<Kernel> kernel;
};

/// One kernel between two phases. It owns all but the caller's module, since it may outlast its caller.
struct Compilation {
  Compilation(mlir::ModuleOp module, const support::Options &options, const support::TargetSpec &target,
              Request request);

  /// Whether the request asks for the text of that stage.
  bool keeps(llvm::StringRef stage) const;
  /// The user's text for that stage; null where there is none.
  const Request::Replacement *replacementOf(llvm::StringRef stage) const;

  mlir::ModuleOp module;
  tt::FuncOp kernel;
  mlir::OwningOpRef<mlir::ModuleOp> written; ///< by the user, in place of `module`
  const support::Options options;
  const support::TargetSpec target;
  Request request;
  PassDiagnostics messages;              ///< what passes and targets say through MLIR
  support::DiagnosticEngine diagnostics; ///< what is found wrong with a text that the user has written
  std::unique_ptr<TargetState> state;
  Result result;
};

/// One step of a compilation, which leaves the stage of its name.
struct Phase {
  const char *name;
  /// Takes what the phase before has left; null for a stage that is only another text of it.
  mlir::LogicalResult (*run)(Compilation &work);
  /// The stage as text; null for the binary, which `Backend::finish` takes.
  mlir::FailureOr<std::string> (*print)(Compilation &work);
  /// Takes the user's text in place of `run`; null where users cannot replace the stage.
  mlir::LogicalResult (*parse)(Compilation &work, const Request::Replacement &text);
};

/// One target. A new one is a file with such a record, and its line in Backends.cpp.
struct Backend {
  const char *name;
  /// The exact target for an architecture as users write it, empty for the default one.
  std::optional<support::TargetSpec> (*resolve)(const std::string &arch, std::string &reason);
  std::vector<Phase>
      phases; ///< in order: "source", which is what the front end made, "ttir", the target's own, the binary
  std::vector<const char *> extras; ///< stages made of the artifact alone
  /// Adds the passes that make the stage "ttir" of what the front end made.
  void (*addTtirPasses)(mlir::OpPassManager &passes, const Compilation &work);
  /// Between "ttir" and the target's own phases: checks what the options ask of the target, and makes `state`.
  mlir::LogicalResult (*begin)(Compilation &work);
  /// After the last phase that was wanted: the binary, the parameters' offsets and the launch properties.
  void (*finish)(Compilation &work);

  llvm::ArrayRef<Phase> untilTtir() const;
  llvm::ArrayRef<Phase> afterTtir() const;
  std::vector<std::string> stages() const;
  std::vector<std::string> replaceable() const;
};

extern const Backend cpuBackend;
extern const Backend cudaBackend;

/// Null for an unknown name.
const Backend *findBackend(llvm::StringRef name);

/// Runs phases in order, to the last one that the request wants: each is timed, verified in builds with assertions,
/// replaced where the user has written its stage, and printed where its stage is kept. True where a phase after these
/// is wanted.
mlir::FailureOr<bool> runPhases(Compilation &work, llvm::ArrayRef<Phase> phases);

//--- for the targets' tables ---
mlir::LogicalResult makeTtir(Compilation &work);
mlir::FailureOr<std::string> printTtir(Compilation &work);
/// Ours is made first: it is what the user's kernel is compared with.
mlir::LogicalResult parseTtir(Compilation &work, const Request::Replacement &text);
/// The module of the user's text, whose kernel has the parameters of the present one, becomes the one that is compiled.
mlir::LogicalResult parseModule(Compilation &work, const Request::Replacement &text);
/// Which of the artifact's parameters the kernel writes through.
void describeWrites(Compilation &work);

/// 1 for a kernel with a reduction, which need not use shared memory: users' occupancy arithmetic divides by this.
uint32_t leastSharedBytes(mlir::ModuleOp module);

/// Writes the offsets that a target chose into the artifact's parameters.
template <typename Params> void setParameterOffsets(artifact::Artifact &artifact, const Params &params) {
  for (size_t index = 0; index < params.size(); ++index) {
    artifact.parameters[index].offset = params[index].offset;
    artifact.parameters[index].size = params[index].size;
  }
}

} // namespace nereid::driver
