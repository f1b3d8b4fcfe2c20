// From a kernel's text and its arguments' types to a module of `tt`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/HostEnv.h"
#include "compiler/support/Diagnostic.h"
#include "compiler/support/Options.h"
#include "compiler/support/TargetSpec.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace nereid::sema {

/// What one parameter of a kernel is compiled for.
struct KernelArgument {
  std::optional<Value> constant; ///< a constexpr, or a value that specialisation made one
  Type type;                     ///< otherwise its type
  int64_t divisibility = 1;      ///< of the pointer or integer that will be passed
};

struct KernelRequest {
  std::shared_ptr<JitFunction> kernel;
  std::vector<KernelArgument> args; ///< one per parameter
  std::string name;                 ///< of the emitted function
  support::Options options;
  support::TargetSpec target;
};

/// Parses and types the kernel. On failure `diagnostics` holds at least one error.
mlir::OwningOpRef<mlir::ModuleOp> emitKernel(mlir::MLIRContext &context, const KernelRequest &request, HostEnv &host,
                                             support::DiagnosticEngine &diagnostics);

/// The parameter names of a kernel, in order; empty after an error.
std::vector<std::string> parameterNames(JitFunction &kernel, support::DiagnosticEngine &diagnostics);

} // namespace nereid::sema
