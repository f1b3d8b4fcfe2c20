// Reports broken rules at ops, and states those that several families have.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Rules.h"

#include "compiler/dialect/tt/Diagnostics.h"

using namespace nereid;
using namespace mlir;

std::string tt::OpReporter::typeName(unsigned operand) const {
  std::string text;
  llvm::raw_string_ostream(text) << operands[operand];
  return text;
}

void tt::OpReporter::report(const support::DiagnosticKind &, std::string message) const {
  op->emitOpError() << message;
}

LogicalResult tt::checkAxis(int64_t axis, int64_t rank, int64_t first, const RuleReporter &reporter) {
  return first <= axis && axis < rank ? success() : reporter.fail(diag::AxisOutOfRange, axis, rank, first, rank - 1);
}
