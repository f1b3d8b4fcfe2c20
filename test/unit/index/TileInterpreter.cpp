// Interprets make_range, splat, shape ops, integer arithmetic, scf.for and scf.if on vectors of numbers.
// SPDX-License-Identifier: MIT
#include "test/unit/index/TileInterpreter.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::test;

static int64_t bitsOf(Value value) { return tt::elementOf(value.getType()).getIntOrFloatBitWidth(); }

/// `value` wrapped to its type: signed, but i1 as 0 or 1.
static int64_t wrap(int64_t value, int64_t bits) {
  return bits == 1 ? value & 1 : static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - bits)) >> (64 - bits);
}

static uint64_t asUnsigned(int64_t value, int64_t bits) {
  return bits == 64 ? value : static_cast<uint64_t>(value) & ((uint64_t(1) << bits) - 1);
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b, int64_t bits) {
  const uint64_t ua = asUnsigned(a, bits), ub = asUnsigned(b, bits);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return ua < ub;
  case arith::CmpIPredicate::ule:
    return ua <= ub;
  case arith::CmpIPredicate::ugt:
    return ua > ub;
  case arith::CmpIPredicate::uge:
    return ua >= ub;
  }
  return false;
}

/// One element of an elementwise op; nothing where it is undefined.
static std::optional<int64_t> compute(Operation &op, int64_t a, int64_t b, int64_t c) {
  const int64_t bits = bitsOf(op.getOperand(0));
  const uint64_t ua = asUnsigned(a, bits), ub = asUnsigned(b, bits);
  auto divides = [&] { return b != 0; };
  if (isa<arith::AddIOp>(op))
    return a + b;
  if (isa<arith::SubIOp>(op))
    return a - b;
  if (isa<arith::MulIOp>(op))
    return a * b;
  if (isa<arith::DivSIOp>(op))
    return divides() ? std::optional(a / b) : std::nullopt;
  if (isa<arith::RemSIOp>(op))
    return divides() ? std::optional(a % b) : std::nullopt;
  if (isa<arith::DivUIOp>(op))
    return divides() ? std::optional<int64_t>(ua / ub) : std::nullopt;
  if (isa<arith::RemUIOp>(op))
    return divides() ? std::optional<int64_t>(ua % ub) : std::nullopt;
  if (isa<arith::AndIOp>(op))
    return a & b;
  if (isa<arith::OrIOp>(op))
    return a | b;
  if (isa<arith::XOrIOp>(op))
    return a ^ b;
  if (isa<arith::ShLIOp>(op))
    return ub < 31 ? std::optional<int64_t>(a * (int64_t(1) << ub)) : std::nullopt;
  if (isa<arith::ShRSIOp>(op))
    return ub < 31 ? std::optional<int64_t>(a >> ub) : std::nullopt;
  if (isa<arith::ShRUIOp>(op))
    return ub < 31 ? std::optional<int64_t>(ua >> ub) : std::nullopt;
  if (isa<arith::MinSIOp>(op))
    return std::min(a, b);
  if (isa<arith::MaxSIOp>(op))
    return std::max(a, b);
  if (isa<arith::MinUIOp>(op))
    return std::min(ua, ub);
  if (isa<arith::MaxUIOp>(op))
    return std::max(ua, ub);
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    return compare(cmp.getPredicate(), a, b, bits);
  if (isa<arith::SelectOp>(op))
    return a ? b : c;
  if (isa<arith::ExtSIOp>(op))
    return bits == 1 ? -a : a;
  if (isa<arith::ExtUIOp>(op))
    return ua;
  if (isa<arith::TruncIOp>(op))
    return a;
  return std::nullopt;
}

bool TileInterpreter::define(Value value, Elements elements) {
  const int64_t bits = bitsOf(value);
  for (int64_t &element : elements) {
    // Overflow, which the analysis counts as an error of the program, is not tested.
    const bool mayWrap =
        bits < 32 ||
        isa_and_nonnull<arith::DivUIOp, arith::RemUIOp, arith::ShRUIOp, arith::MinUIOp, arith::MaxUIOp, arith::ExtUIOp>(
            value.getDefiningOp());
    if (!mayWrap && std::abs(element) >= int64_t(1) << 30)
      return false;
    element = wrap(element, bits);
  }
  observer(value, elements);
  values[value] = std::move(elements);
  return true;
}

bool TileInterpreter::elementwise(Operation &op) {
  const size_t count = std::max<size_t>(1, llvm::product_of(tt::shapeOf(op.getResult(0).getType())));
  auto at = [&](unsigned operand, size_t index) -> int64_t {
    if (operand >= op.getNumOperands())
      return 0;
    const Elements &elements = values[op.getOperand(operand)];
    return elements.size() == 1 ? elements[0] : elements[index];
  };
  Elements result;
  for (size_t index = 0; index < count; ++index) {
    const auto element = compute(op, at(0, index), at(1, index), at(2, index));
    if (!element)
      return false;
    result.push_back(*element);
  }
  return define(op.getResult(0), std::move(result));
}

/// For each element of a tile of `shape`, the element of `source` at the index that `pick` gives for its coordinates.
static Elements gather(const Elements &source, ArrayRef<int64_t> shape,
                       llvm::function_ref<size_t(ArrayRef<int64_t>)> pick) {
  Elements result;
  SmallVector<int64_t> at(shape.size(), 0);
  for (int64_t count = llvm::product_of(shape); count > 0; --count) {
    result.push_back(source[pick(at)]);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++at[dim] < shape[dim])
        break;
      at[dim] = 0;
    }
  }
  return result;
}

static size_t flat(ArrayRef<int64_t> at, ArrayRef<int64_t> shape) {
  size_t index = 0;
  for (auto [coordinate, extent] : llvm::zip_equal(at, shape))
    index = index * extent + coordinate;
  return index;
}

bool TileInterpreter::runOp(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runFor(loop);
  if (isa<tt::ReturnOp, scf::YieldOp>(op))
    return true;
  Value result = op.getResult(0);
  ArrayRef<int64_t> shape = tt::shapeOf(result.getType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    const APInt number = splat ? splat.getSplatValue<APInt>() : cast<IntegerAttr>(constant.getValue()).getValue();
    return define(result, Elements(std::max<size_t>(1, llvm::product_of(shape)), number.getSExtValue()));
  }
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    Elements elements;
    for (int32_t i = range.getStart(); i < static_cast<int32_t>(range.getEnd()); ++i)
      elements.push_back(i);
    return define(result, elements);
  }
  const Elements source = values[op.getOperand(0)];
  ArrayRef<int64_t> from = tt::shapeOf(op.getOperand(0).getType());
  if (isa<tt::SplatOp>(op))
    return define(result, Elements(llvm::product_of(shape), source[0]));
  if (isa<tt::ExpandDimsOp, tt::ReshapeOp>(op))
    return define(result, source);
  if (isa<tt::BroadcastOp>(op))
    return define(result, gather(source, shape, [&](ArrayRef<int64_t> at) {
                    SmallVector<int64_t> inner(at);
                    for (auto [coordinate, extent] : llvm::zip_equal(inner, from))
                      coordinate %= extent;
                    return flat(inner, from);
                  }));
  if (auto trans = dyn_cast<tt::TransOp>(op))
    return define(result, gather(source, shape, [&](ArrayRef<int64_t> at) {
                    SmallVector<int64_t> inner(at.size());
                    for (auto [to, fromDim] : llvm::enumerate(trans.getOrder()))
                      inner[fromDim] = at[to];
                    return flat(inner, from);
                  }));
  return elementwise(op);
}

bool TileInterpreter::runFor(scf::ForOp loop) {
  const int64_t end = values[loop.getUpperBound()][0], step = values[loop.getStep()][0];
  SmallVector<Elements> carried;
  for (Value init : loop.getInitArgs())
    carried.push_back(values[init]);
  for (int64_t index = values[loop.getLowerBound()][0]; index < end; index += step) {
    if (!define(loop.getInductionVar(), {index}))
      return false;
    for (auto [argument, elements] : llvm::zip_equal(loop.getRegionIterArgs(), carried))
      if (!define(argument, elements))
        return false;
    if (!runBlock(*loop.getBody()))
      return false;
    for (auto [elements, yielded] : llvm::zip_equal(carried, loop.getYieldedValues()))
      elements = values[yielded];
  }
  for (auto [result, elements] : llvm::zip_equal(loop.getResults(), carried))
    if (!define(result, elements))
      return false;
  return true;
}

bool TileInterpreter::runBlock(Block &block) {
  return llvm::all_of(block, [&](Operation &op) { return runOp(op); });
}

bool TileInterpreter::run(tt::FuncOp function, ArrayRef<int64_t> arguments) {
  values.clear();
  for (auto [argument, number] : llvm::zip_equal(function.getArguments(), arguments))
    if (!define(argument, {number}))
      return false;
  return runBlock(function.getBody().front());
}
