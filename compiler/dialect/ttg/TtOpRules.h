// Adds to the ops of `tt`, family by family, the rules that depend on layouts: external models of the interfaces of
// `ttg`.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/MLIRContext.h"

namespace nereid::ttg {

void addAtomicRules(mlir::MLIRContext *context);
void addDotRules(mlir::MLIRContext *context);
void addGatherRules(mlir::MLIRContext *context);
void addJoinRules(mlir::MLIRContext *context);
void addMemoryRules(mlir::MLIRContext *context);
void addReduceRules(mlir::MLIRContext *context);
void addScanRules(mlir::MLIRContext *context);
void addShapeRules(mlir::MLIRContext *context);

} // namespace nereid::ttg
