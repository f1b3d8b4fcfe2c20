// Compiles a kernel's source and its arguments' types to a module of `tt`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/HostEnv.h"
#include "compiler/support/Diagnostic.h"
#include "compiler/support/Options.h"
#include "compiler/support/TargetSpec.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace nereid::sema {

/// The specialisation of one parameter of a kernel.
struct KernelArgument {
  std::optional<Value> constant; ///< a constexpr, or a value fixed by specialisation
  Type type;                     ///< of a run-time value
  int64_t divisibility = 1;      ///< of the pointer or integer argument
  /// A tuple or an object with fields that holds run-time values: its names and class; `elements` are its fields.
  std::optional<TupleValue> compound;
  std::vector<KernelArgument> elements;
  /// The bits of a signed number that holds any distance in bytes within the storage of a pointer; 0: not known.
  unsigned pointerRange = 0;
};

/// Each run-time value of an argument with its name, in order: the argument itself ("x"), or its elements ("x.0",
/// "x.field", "x.0.1").
void forEachLeaf(const KernelArgument &arg, const std::string &name,
                 llvm::function_ref<void(const KernelArgument &, const std::string &)> visit);

struct KernelRequest {
  std::shared_ptr<JitFunction> kernel;
  std::vector<KernelArgument> args; ///< one per parameter
  std::string name;                 ///< of the emitted function
  support::Options options;
  support::TargetSpec target;
};

/// Parses the kernel and emits its module. On failure `diagnostics` holds at least one error.
mlir::OwningOpRef<mlir::ModuleOp> emitKernel(mlir::MLIRContext &context, const KernelRequest &request, HostEnv &host,
                                             support::DiagnosticEngine &diagnostics);

/// The parameter names of a kernel, in order; empty after an error.
std::vector<std::string> parameterNames(JitFunction &kernel, support::DiagnosticEngine &diagnostics);

} // namespace nereid::sema
