// The table from an elementwise op to the function that emits it.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/elements/ElementOps.h"

namespace nereid::lowering {

/// What the emitting function gets as operands.
enum class OperandForm : uint8_t {
  Held,     ///< elements as the target holds them
  Float,    ///< floats, in f32 where the target computes such an op in f32; the result is converted back
  Function, ///< likewise, for divisions and elementary functions
};

using Operands = llvm::ArrayRef<llvm::Value *>;

struct ElementForm {
  OperandForm operands = OperandForm::Held;
  llvm::Value *(*emit)(ElementOps &ops, mlir::Operation *op, Operands in) = nullptr;
};

class ElementTable {
public:
  template <typename... Ops> void add(OperandForm operands, decltype(ElementForm::emit) emit) {
    (forms.try_emplace(mlir::TypeID::get<Ops>(), ElementForm{operands, emit}), ...);
  }
  /// The op's row; null for an op that is not in the table.
  const ElementForm *find(mlir::Operation *op) const {
    const auto found = forms.find(op->getName().getTypeID());
    return found == forms.end() ? nullptr : &found->second;
  }

private:
  llvm::DenseMap<mlir::TypeID, ElementForm> forms;
};

/// An op that is one intrinsic of its operands' type.
template <llvm::Intrinsic::ID id> llvm::Value *emitIntrinsic(ElementOps &ops, mlir::Operation *, Operands in) {
  return ops.intrinsic(id, in);
}

void addIntegerForms(ElementTable &table);
void addFloatForms(ElementTable &table);
void addConversionForms(ElementTable &table);

} // namespace nereid::lowering
