// Reports rules of ops that a call breaks.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Rules.h"
#include "compiler/sema/TtFunctionEmitter.h"

namespace nereid::sema {

class CallReporter final : public tt::RuleReporter {
public:
  /// `operands` are the types that the rule's message names, in the order of the op's operands.
  CallReporter(TtFunctionEmitter &emitter, SourceRange range, std::initializer_list<Type> operands = {})
      : emitter(emitter), range(range), operands(operands) {}
  std::string typeName(unsigned operand) const override { return operands[operand].str(); }

private:
  void report(const support::DiagnosticKind &kind, std::string message) const override {
    emitter.errorText(kind, range, std::move(message));
  }

  TtFunctionEmitter &emitter;
  SourceRange range;
  llvm::SmallVector<Type, 2> operands;
};

} // namespace nereid::sema
