// A context and a module of IR, kept alive by Python objects.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/StackRoom.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace nereid::python {

class IrContext {
public:
  /// Created with its dialects at first use.
  mlir::MLIRContext &context();

private:
  std::unique_ptr<mlir::MLIRContext> created;
};

class IrModule {
public:
  IrModule(std::shared_ptr<IrContext> context, mlir::OwningOpRef<mlir::ModuleOp> op)
      : context(std::move(context)), op(std::move(op)) {}
  IrModule(const IrModule &) = delete;
  IrModule &operator=(const IrModule &) = delete;
  ~IrModule() {
    support::runWithStackRoom([&] { op = nullptr; });
  }
  const std::shared_ptr<IrContext> context; ///< outlives `op`
  mlir::OwningOpRef<mlir::ModuleOp> op;
};

} // namespace nereid::python
