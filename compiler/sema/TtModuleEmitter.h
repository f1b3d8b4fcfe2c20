// The module under construction: the functions that were specialised so far and their callers.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/sema/HostEnv.h"
#include "compiler/support/Diagnostic.h"
#include "compiler/support/Options.h"
#include "compiler/support/TargetSpec.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace nereid::sema {

class TtFunctionEmitter;

/// A function that was emitted for certain argument types and constants.
struct Specialisation {
  tt::FuncOp op; ///< null while it is being emitted: runtime recursion
  Value result;  ///< the returned value; tensors in it are the op's results, in order
  std::shared_ptr<JitFunction> function;
  std::vector<Value> args; ///< the arguments of the specialisation: constants, and tensors that stand for their types
};

class TtModuleEmitter {
public:
  TtModuleEmitter(mlir::ModuleOp op, HostEnv &host, support::DiagnosticEngine &diagnostics,
                  const support::Options &options, const support::TargetSpec &target);

  mlir::ModuleOp op;
  mlir::OpBuilder builder;
  HostEnv &host;
  support::DiagnosticEngine &diagnostics;
  const support::Options &options;
  const support::TargetSpec &target;
  unsigned regionWarps = 0; ///< the warps that run what is emitted; 0: those of the kernel
  bool isGluon = false;     ///< tiles have layouts: the kernel is in Gluon's language

  /// Parses the function's text once; false after an error.
  bool parse(JitFunction &function);
  /// The specialisation of `function` for these arguments (one per parameter), emitted at first use; null after an
  /// error. Tensors that `function` captured follow those of the arguments.
  const Specialisation *specialise(std::shared_ptr<JitFunction> function, llvm::ArrayRef<Value> args,
                                   support::FileRange callSite);
  /// Emits `function` into a region on scalars: its parameters are the region's arguments, of the `types`. False after
  /// an error; `wrongCount` is reported where the number of parameters differs.
  bool emitBody(std::shared_ptr<JitFunction> function, llvm::ArrayRef<Type> types, mlir::Region &region,
                support::FileRange callSite, const support::DiagnosticKind &wrongCount, std::vector<Value> &results);
  /// The position to report to a user: `where`, or the call into the library when `function` is the library's own.
  support::FileRange userFileRange(support::FileRange where, const JitFunction &function) const;
  /// Adds "called from" notes to an error inside of a called function.
  void noteCallers(support::Diagnostic &diagnostic) const;

  /// The function of the embedded library with that name, or null.
  std::shared_ptr<JitFunction> stdlibFunction(llvm::StringRef module, llvm::StringRef name);

  /// Exceptions of the host that caused errors, by the index of the diagnostic.
  std::vector<std::pair<size_t, HostError>> hostCauses;

  /// The number of continuations emitted into both sides of an `if` so far (ControlFlow.cpp).
  unsigned duplicatedContinuations = 0;
  /// Iterations of unrolled loops and statements run so far in all functions, to limit the expansion.
  int64_t unrolledIterations = 0, statementsRun = 0;
  /// Lambdas as functions, with the arenas that hold these.
  llvm::DenseMap<const syntax::Lambda *, std::pair<const syntax::FunctionDef *, std::shared_ptr<syntax::AstContext>>>
      lambdas;

private:
  llvm::StringMap<Specialisation> specialisations;
  llvm::StringMap<std::shared_ptr<JitFunction>> stdlib;
  /// An active call: its position, and whether that is in the library.
  struct Caller {
    support::FileRange range;
    bool isStdlib = false;
  };
  llvm::SmallVector<Caller> callStack;
};

/// Every tensor inside `value`, in order; and the same value with these tensors replaced.
void flatten(const Value &value, llvm::SmallVectorImpl<TensorValue> &tensors);
Value unflatten(const Value &shape, llvm::ArrayRef<mlir::Value> &values);
/// Equal structure, constants and tensor types.
bool sameShape(const Value &a, const Value &b);
/// A value in names of specialised functions: types of tensors, reprs of constants.
std::string mangle(const Value &value);

} // namespace nereid::sema
