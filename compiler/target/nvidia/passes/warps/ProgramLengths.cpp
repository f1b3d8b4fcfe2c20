// Evaluates the bounds of loops for some programs.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/warps/ProgramLengths.h"

#include "compiler/analysis/PointerBases.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

/// A length such as attention's, a multiple of any block, and a grid that has the programs below.
static constexpr int64_t kLikelyArgument = 1 << 20, kLikelyPrograms = 64;
static constexpr int64_t kPrograms[] = {1, 6, 11};
static constexpr unsigned kMostOps = 64;

namespace {
/// Evaluates scalars for one index of the program along the first axis.
class Evaluator {
public:
  explicit Evaluator(int64_t program) : program(program) {}
  std::optional<int64_t> evaluate(Value value);

private:
  std::optional<int64_t> evaluate(Operation *op);

  int64_t program;
  unsigned numOps = 0;
};
} // namespace

static std::optional<int64_t> divided(int64_t a, int64_t b, bool isRest) {
  if (b <= 0)
    return std::nullopt;
  return isRest ? a % b : a / b;
}

std::optional<int64_t> Evaluator::evaluate(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (Operation *op = value.getDefiningOp())
    return evaluate(op);
  return analysis::functionArgument(value) && value.getType().isInteger() ? std::optional(kLikelyArgument)
                                                                          : std::nullopt;
}

std::optional<int64_t> Evaluator::evaluate(Operation *op) {
  if (auto id = dyn_cast<tt::GetProgramIdOp>(op))
    return id.getAxis() == tt::ProgramDim::X ? program : 0;
  if (isa<tt::GetNumProgramsOp>(op))
    return kLikelyPrograms;
  if (op->getNumRegions() || op->getNumOperands() == 0 || ++numOps > kMostOps)
    return std::nullopt;
  SmallVector<int64_t, 3> in;
  for (Value operand : op->getOperands()) {
    const std::optional<int64_t> number = evaluate(operand);
    if (!number)
      return std::nullopt;
    in.push_back(*number);
  }
  using Result = std::optional<int64_t>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::AddIOp>([&](auto) { return llvm::checkedAdd(in[0], in[1]); })
      .Case<arith::SubIOp>([&](auto) { return llvm::checkedSub(in[0], in[1]); })
      .Case<arith::MulIOp>([&](auto) { return llvm::checkedMul(in[0], in[1]); })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](auto) { return divided(in[0], in[1], /*isRest=*/false); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return divided(in[0], in[1], /*isRest=*/true); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return Result(std::min(in[0], in[1])); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return Result(std::max(in[0], in[1])); })
      .Case<arith::SelectOp>([&](auto) { return Result(in[0] ? in[1] : in[2]); })
      .Case<arith::CmpIOp>([&](arith::CmpIOp compare) {
        const APInt a(64, in[0], /*isSigned=*/true), b(64, in[1], /*isSigned=*/true);
        return Result(arith::applyCmpPredicate(compare.getPredicate(), a, b));
      })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>([&](auto) { return Result(in[0]); })
      .Default(Result());
}

/// The iterations of all loops in a program.
static std::optional<int64_t> lengthOf(ArrayRef<scf::ForOp> loops, int64_t program) {
  int64_t length = 0;
  for (scf::ForOp loop : loops) {
    Evaluator evaluator(program);
    const auto lower = evaluator.evaluate(loop.getLowerBound()), upper = evaluator.evaluate(loop.getUpperBound()),
               step = evaluator.evaluate(loop.getStep());
    const auto extent = lower && upper ? llvm::checkedSub(*upper, *lower) : std::nullopt;
    if (!extent || !step || *step <= 0)
      return std::nullopt;
    length += llvm::divideCeil(std::max<int64_t>(0, *extent), *step);
  }
  return length;
}

LengthTrend nvidia::lengthTrendOf(ArrayRef<scf::ForOp> loops) {
  SmallVector<int64_t, 3> lengths;
  for (int64_t program : kPrograms) {
    const std::optional<int64_t> length = lengthOf(loops, program);
    if (!length)
      return LengthTrend::Equal;
    lengths.push_back(*length);
  }
  if (lengths[0] < lengths[1] && lengths[1] < lengths[2])
    return LengthTrend::Grows;
  return lengths[0] > lengths[1] && lengths[1] > lengths[2] ? LengthTrend::Shrinks : LengthTrend::Equal;
}
