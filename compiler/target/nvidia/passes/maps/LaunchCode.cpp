// Writes launch expressions, op by op.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/maps/LaunchCode.h"

#include "compiler/analysis/PointerBases.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using artifact::LaunchOp;

/// A longer expression is not worth evaluating at each launch.
static constexpr size_t kMostWords = 128;

LaunchCode nvidia::combine(LaunchOp op, LaunchCode a, const LaunchCode &b) {
  llvm::append_range(a, b);
  a.push_back(op);
  return a;
}

static std::optional<LaunchOp> launchOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<LaunchOp>>(op)
      .Case<arith::AddIOp>([](auto) { return LaunchOp::Add; })
      .Case<arith::SubIOp>([](auto) { return LaunchOp::Sub; })
      .Case<arith::MulIOp>([](auto) { return LaunchOp::Mul; })
      .Case<arith::DivSIOp>([](auto) { return LaunchOp::Div; })
      .Case<arith::RemSIOp>([](auto) { return LaunchOp::Rem; })
      .Case<arith::MinSIOp>([](auto) { return LaunchOp::Min; })
      .Case<arith::MaxSIOp>([](auto) { return LaunchOp::Max; })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<LaunchCode> nvidia::launchCodeOf(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return launchConstant(number.getSExtValue());
  const bool isInteger = value.getType().isInteger(32) || value.getType().isInteger(64);
  if (BlockArgument argument = analysis::functionArgument(value))
    return isInteger || isa<tt::PointerType>(value.getType())
               ? std::optional(LaunchCode{LaunchOp::Argument, argument.getArgNumber()})
               : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (!op || !isInteger)
    return std::nullopt;
  if (isa<arith::ExtSIOp>(op))
    return launchCodeOf(op->getOperand(0));
  const std::optional<LaunchOp> known = launchOp(op);
  if (!known)
    return std::nullopt;
  auto a = launchCodeOf(op->getOperand(0)), b = a ? launchCodeOf(op->getOperand(1)) : std::nullopt;
  if (!b || a->size() + b->size() > kMostWords)
    return std::nullopt;
  return combine(*known, std::move(*a), *b);
}

std::optional<LaunchCode> nvidia::launchCodeOf(const index::Polynomial &polynomial, const index::AffineInfo &info) {
  LaunchCode sum;
  for (const index::Polynomial::Term &term : polynomial.terms()) {
    LaunchCode product = launchConstant(term.coefficient);
    for (unsigned factor : term.factors) {
      const index::AffineInfo::Variable &variable = info.variable(factor);
      auto code = variable.loop ? std::nullopt : launchCodeOf(variable.value);
      if (!code)
        return std::nullopt;
      product = combine(LaunchOp::Mul, std::move(product), *code);
    }
    sum = sum.empty() ? product : combine(LaunchOp::Add, std::move(sum), product);
  }
  return sum.empty() ? launchConstant(0) : sum;
}
