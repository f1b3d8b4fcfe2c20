// The table of emitters: for each op the function that emits it.
// SPDX-License-Identifier: MIT
//
// A family's file adds its ops; a target adds those of its own dialect, and may replace others.
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseMap.h"

namespace nereid::lowering {

class TtgFunctionEmitter;

class OpEmitters {
public:
  /// Emits an op whose operands are emitted, and defines its results. Fails with an error at the op.
  using Emitter = mlir::LogicalResult (*)(TtgFunctionEmitter &emitter, mlir::Operation *op);

  /// Adds one function, of a `TtgFunctionEmitter &` and an op, for each of `Ops`; it replaces earlier ones.
  template <auto emit, typename... Ops> void add() {
    (table.insert_or_assign(mlir::TypeID::get<Ops>(),
                            [](TtgFunctionEmitter &emitter, mlir::Operation *op) -> mlir::LogicalResult {
                              return emit(emitter, llvm::cast<Ops>(op));
                            }),
     ...);
  }
  /// Sets the emitter of all other ops.
  void setDefault(Emitter emit) { otherwise = emit; }

  Emitter of(mlir::Operation *op) const { return table.lookup_or(op->getName().getTypeID(), otherwise); }

private:
  llvm::DenseMap<mlir::TypeID, Emitter> table;
  Emitter otherwise = nullptr;
};

/// Adds the emitters of `tt`, `ttg` and scf ops that need no vendor's instructions.
void addOpEmitters(OpEmitters &table);

//--- by family ---
void addAtomicEmitters(OpEmitters &table);
void addBufferViewEmitters(OpEmitters &table);
void addControlEmitters(OpEmitters &table);
void addConvertLayoutEmitters(OpEmitters &table);
void addDebugEmitters(OpEmitters &table);
void addDotEmitters(OpEmitters &table);
void addElementwiseEmitters(OpEmitters &table);
void addGatherEmitters(OpEmitters &table);
void addIndexEmitters(OpEmitters &table);
void addInlineAsmEmitters(OpEmitters &table);
void addJoinEmitters(OpEmitters &table);
void addLocalGatherEmitters(OpEmitters &table);
void addMapEmitters(OpEmitters &table);
void addMemoryEmitters(OpEmitters &table);
void addProgramEmitters(OpEmitters &table);
void addReduceEmitters(OpEmitters &table);
void addScanEmitters(OpEmitters &table);
void addShapeEmitters(OpEmitters &table);
void addSharedEmitters(OpEmitters &table);
void addWarpEmitters(OpEmitters &table);

} // namespace nereid::lowering
