// Decides before each of LLVM's optional passes whether it runs.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/OptBisect.h"

namespace nereid::lowering {

/// The gate of `LLVMContext::setOptPassGate`: a compilation that was cancelled (support/FatalGuard.h) ends between
/// passes.
class PassGate final : public llvm::OptPassGate {
public:
  /// `skipped` are names of passes that never run: LLVM's pipelines of code generation are fixed. They must live as
  /// long as the gate.
  explicit PassGate(llvm::ArrayRef<llvm::StringLiteral> skipped = {}) : skipped(skipped) {}
  bool shouldRunPass(llvm::StringRef name, llvm::StringRef description) const override;
  bool isEnabled() const override { return true; }

private:
  llvm::ArrayRef<llvm::StringLiteral> skipped;
};

} // namespace nereid::lowering
