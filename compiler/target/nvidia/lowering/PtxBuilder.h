// Builds the text of an inline assembly together with its operands.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TargetEmitter.h"

#include "llvm/Support/ModRef.h"

#include <string>

namespace nereid::nvidia {

/// Operands are integers of 1 (a predicate), 16, 32 and 64 bits, and pointers.
class PtxBuilder {
public:
  using IrBuilder = lowering::IrBuilder;
  explicit PtxBuilder(IrBuilder &ir) : ir(ir) {}

  /// Adds a result; outputs precede inputs. An early-clobber output, written before all inputs are read, shares no
  /// register with them.
  std::string output(llvm::Type *type, bool isEarlyClobber);
  std::string input(llvm::Value *value);
  /// A constant integer as an immediate, everything else as an input.
  std::string inputOrImmediate(llvm::Value *value);
  llvm::SmallVector<llvm::Value *, 4> emit(const std::string &text, llvm::MemoryEffects effects);

private:
  IrBuilder &ir;
  std::string constraints;
  llvm::SmallVector<llvm::Type *, 4> results;
  llvm::SmallVector<llvm::Value *, 8> inputs;
  unsigned next = 0;
};

/// "[$1 + 16]"
std::string addressText(const std::string &base, int64_t offset);

} // namespace nereid::nvidia
