// Finds tiles that are regular in each chunk of lanes.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Chunks.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/target/cpu/plan/Expressions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Products of divisors stay below this, so that none wraps.
static constexpr uint64_t largestDivisor = 1u << 30;

static uint64_t productOf(uint64_t a, uint64_t b) {
  if (a == 0 || b == 0)
    return 0;
  if (a > largestDivisor || b > largestDivisor || a * b > largestDivisor)
    return std::max(a, b);
  return a * b;
}

static ChunkForm constantForm(int64_t value) { return {0, static_cast<uint64_t>(std::abs(value)), value >= 0}; }

namespace {
class ChunkAnalysis {
public:
  ChunkAnalysis(AffineInfo &affineInfo, int loop, unsigned lanes) : affineInfo(affineInfo), loop(loop), lanes(lanes) {}

  std::optional<ChunkForm> of(Value value, const IndexMap &fullMap);

private:
  std::optional<ChunkForm> compute(Value value, const IndexMap &map);
  std::optional<ChunkForm> scalar(Value value);
  std::optional<ChunkForm> arithmetic(Operation *op, const ChunkForm &a, const ChunkForm &b);
  std::optional<ChunkForm> quotient(Operation *op, const ChunkForm &dividend, Value divisor);
  bool hasOneResult(arith::CmpIOp op, const ChunkForm &left, const ChunkForm &right) const;

  AffineInfo &affineInfo;
  const int loop;
  const unsigned lanes;
  unsigned depth = 0;
  llvm::SmallVector<std::tuple<Value, IndexMap, std::optional<ChunkForm>>> known;
};
} // namespace

std::optional<ChunkForm> ChunkAnalysis::of(Value value, const IndexMap &fullMap) {
  constexpr unsigned maxDepth = 40, maxValues = 200;
  if (!isa<RankedTensorType>(value.getType()))
    return scalar(value);
  const IndexMap map = reduceMap(affineInfo, value, fullMap);
  for (const auto &[other, otherMap, form] : known)
    if (other == value && otherMap == map)
      return form;
  if (depth == maxDepth || known.size() > maxValues)
    return std::nullopt;
  ++depth;
  std::optional<ChunkForm> form = compute(value, map);
  --depth;
  if (!form && !llvm::is_contained(map, loop))
    form = ChunkForm();
  known.emplace_back(value, map, form);
  return form;
}

std::optional<ChunkForm> ChunkAnalysis::scalar(Value value) {
  constexpr unsigned maxDepth = 40;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constantForm(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op || depth == maxDepth) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto loopOp = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : nullptr;
    if (!loopOp || argument != loopOp.getInductionVar() || depth == maxDepth)
      return ChunkForm();
    ++depth;
    const ChunkForm begin = *scalar(loopOp.getLowerBound()), step = *scalar(loopOp.getStep());
    --depth;
    return ChunkForm{0, std::gcd(begin.divisor, step.divisor), begin.isNonNegative && step.isNonNegative};
  }
  if (isa<tt::GetProgramIdOp, tt::GetNumProgramsOp>(op))
    return ChunkForm{0, 1, true};
  ++depth;
  std::optional<ChunkForm> form;
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op))
    form = scalar(op->getOperand(0));
  else if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    form = arithmetic(op, *scalar(op->getOperand(0)), *scalar(op->getOperand(1)));
  --depth;
  return form ? form : ChunkForm();
}

/// Sums, differences and products, of pointers too.
std::optional<ChunkForm> ChunkAnalysis::arithmetic(Operation *op, const ChunkForm &a, const ChunkForm &b) {
  if (auto add = dyn_cast<tt::AddPtrOp>(op))
    return ChunkForm{a.stride + b.stride * bytesOfPointee(add.getResult()), 1, false};
  if (isa<arith::SubIOp>(op))
    return ChunkForm{a.stride - b.stride, std::gcd(a.divisor, b.divisor), false};
  const bool isNonNegative = a.isNonNegative && b.isNonNegative && affineInfo.isOffset(op->getResult(0));
  if (isa<arith::AddIOp>(op))
    return ChunkForm{a.stride + b.stride, std::gcd(a.divisor, b.divisor), isNonNegative};
  if (a.stride == 0 && b.stride == 0)
    return ChunkForm{0, productOf(a.divisor, b.divisor), isNonNegative};
  APInt factor;
  const ChunkForm &tile = a.stride ? a : b;
  if (!matchPattern(op->getOperand(a.stride ? 1 : 0), m_ConstantInt(&factor)) || !factor.isSignedIntN(31))
    return std::nullopt;
  return ChunkForm{tile.stride * factor.getSExtValue(), productOf(a.divisor, b.divisor), isNonNegative};
}

/// Lane 0 is a multiple of a number that divides the divisor too: the lanes do not reach the next multiple, where the
/// quotient may change.
std::optional<ChunkForm> ChunkAnalysis::quotient(Operation *op, const ChunkForm &dividend, Value divisor) {
  APInt constant;
  if (!matchPattern(divisor, m_ConstantInt(&constant)) || !constant.isStrictlyPositive())
    return std::nullopt;
  const uint64_t common = std::gcd(dividend.divisor, constant.getZExtValue());
  if (!dividend.isNonNegative || dividend.stride < 0 || !llvm::isInt<31>(dividend.stride) ||
      static_cast<uint64_t>(dividend.stride) * (lanes - 1) >= common)
    return std::nullopt;
  return isa<arith::RemSIOp, arith::RemUIOp>(op) ? ChunkForm{dividend.stride, common, true} : ChunkForm{0, 1, true};
}

/// Whether every lane compares as lane 0 does: `tile < c` and `tile >= c` with c > 0, where a power of two divides lane
/// 0 and the constant, and the lanes stay below its next multiple, so that none wraps around.
bool ChunkAnalysis::hasOneResult(arith::CmpIOp op, const ChunkForm &left, const ChunkForm &right) const {
  using Predicate = arith::CmpIPredicate;
  const Predicate predicate = op.getPredicate();
  APInt limit;
  if ((predicate != Predicate::slt && predicate != Predicate::sge) || left.stride <= 0 ||
      !matchPattern(op.getRhs(), m_ConstantInt(&limit)) || !limit.isStrictlyPositive())
    return false;
  const uint64_t common = std::gcd(left.divisor, right.divisor);
  const uint64_t powerOfTwo = common & (~common + 1);
  return llvm::isInt<31>(left.stride) && static_cast<uint64_t>(left.stride) * (lanes - 1) < powerOfTwo;
}

std::optional<ChunkForm> ChunkAnalysis::compute(Value value, const IndexMap &map) {
  Type element = tt::elementOf(value.getType());
  APInt constant;
  if (element.isIntOrIndex() && matchPattern(value, m_ConstantInt(&constant)))
    return constantForm(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  const bool choosesOperand = op && isa<tt::ElementMapOpInterface>(op) && op->getNumOperands() > 1;
  if (!op || op->getNumResults() != 1 || !isComputable(op) || choosesOperand)
    return std::nullopt;
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    const int64_t start = static_cast<int32_t>(range.getStart());
    if (map[0] == loop)
      return ChunkForm{1, std::gcd(static_cast<uint64_t>(std::abs(start)), static_cast<uint64_t>(lanes)), start >= 0};
    return ChunkForm{0, 1, start >= 0};
  }
  SmallVector<ChunkForm, 3> operands;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto inner = operandMap(value, index, map);
    auto form = inner ? of(operand, *inner) : std::nullopt;
    if (!form)
      return std::nullopt;
    operands.push_back(*form);
  }
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op) && operands.front().stride && !affineInfo.isOffset(op->getOperand(0)))
    return std::nullopt; // a lane may have wrapped around before
  if (isa<tt::SplatOp, arith::ExtSIOp, arith::IndexCastOp>(op) || isShapeChange(op))
    return operands.front();
  const bool isUniform = llvm::all_of(operands, [](const ChunkForm &form) { return form.stride == 0; });
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return isUniform && !load.getIsVolatile() ? std::optional(ChunkForm()) : std::nullopt;
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, tt::AddPtrOp>(op))
    return arithmetic(op, operands[0], operands[1]);
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp>(op))
    if (auto form = quotient(op, operands[0], op->getOperand(1)))
      return form;
  if (auto comparison = dyn_cast<arith::CmpIOp>(op); comparison && hasOneResult(comparison, operands[0], operands[1]))
    return ChunkForm();
  return isUniform && !operands.empty() && isMemoryEffectFree(op) ? std::optional(ChunkForm()) : std::nullopt;
}

std::optional<ChunkForm> cpu::chunkForm(AffineInfo &affineInfo, Value value, const IndexMap &map, int loop,
                                        unsigned lanes) {
  return ChunkAnalysis(affineInfo, loop, lanes).of(value, map);
}

bool cpu::isUniform(AffineInfo &affineInfo, Value value, const IndexMap &map, int loop, unsigned lanes) {
  auto form = chunkForm(affineInfo, value, map, loop, lanes);
  return form && form->stride == 0;
}

unsigned cpu::largestChunk(unsigned most, unsigned fewest, llvm::function_ref<bool(unsigned)> holds) {
  for (unsigned lanes = most; lanes >= fewest; lanes /= 2)
    if (holds(lanes))
      return lanes;
  return 0;
}

/// Fewer lanes are no chunk that pays.
static constexpr unsigned fewestLanes = 8;

bool cpu::hasContiguousChunks(AffineInfo &affineInfo, Value pointer, unsigned dim) {
  ArrayRef<int64_t> shape = tt::shapeOf(pointer.getType());
  auto form = shape[dim] % fewestLanes == 0
                  ? chunkForm(affineInfo, pointer, identityMap(shape.size()), dim, fewestLanes)
                  : std::nullopt;
  return form && form->stride == bytesOfPointee(pointer);
}

unsigned cpu::regularLanes(AffineInfo &affineInfo, Value pointer, const IndexMap &map, int loop, unsigned most) {
  const int64_t bytes = bytesOfPointee(pointer);
  return largestChunk(most, fewestLanes, [&](unsigned lanes) {
    auto form = chunkForm(affineInfo, pointer, map, loop, lanes);
    return form && (form->stride == 0 || form->stride == bytes);
  });
}

bool cpu::isUniformComparison(AffineInfo &affineInfo, Value value, const IndexMap &map, int loop, unsigned lanes) {
  return value.getDefiningOp<arith::CmpIOp>() && !affineInfo.prefix(value) &&
         isUniform(affineInfo, value, map, loop, lanes);
}

unsigned cpu::uniformLanes(AffineInfo &affineInfo, Value comparison, const IndexMap &map, int loop, unsigned most) {
  constexpr unsigned fewestLanes = 16; // fewer would cost other elements of the nest more than the comparison
  return largestChunk(most, fewestLanes,
                      [&](unsigned lanes) { return isUniformComparison(affineInfo, comparison, map, loop, lanes); });
}
