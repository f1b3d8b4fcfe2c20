// Inserts sanitizer checks beside accesses and arithmetic.
// SPDX-License-Identifier: MIT
#include "artifact/Sanitizers.h"
#include "compiler/analysis/PointerBases.h"
#include "compiler/passes/tt/AddressSources.h"
#include "compiler/passes/tt/LaneFlags.h"
#include "compiler/passes/tt/Passes.h"

#include "llvm/ADT/StringExtras.h"

namespace nereid::tt {
#define GEN_PASS_DEF_INSERTCHECKS
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;
using namespace nereid;
using namespace nereid::tt;
using check::Kind;

namespace {
class Inserter {
public:
  Inserter(FuncOp kernel, uint32_t kinds) : kernel(kernel), kinds(kinds), builder(kernel.getContext()) {}
  void run();

private:
  bool wants(artifact::Sanitizer sanitizer) const { return kinds & sanitizer; }
  check::ValuesOp add(Operation *op, Kind kind, StringRef what, ArrayRef<Value> values, Value mask = {});
  void visit(Operation *op);
  void access(MemoryAccessOpInterface op);
  void initialised(MemoryAccessOpInterface op);
  void defined(Operation *op, Value value, StringRef what, Value mask = {});
  void definedInputs(Operation *op);
  void overflow(Operation *op, bool isUnsigned);
  void sum(Operation *op, bool isUnsigned);
  void unwrapped(Operation *op, Value value, Value mask = {});
  void numbers(Operation *op);
  void loadedNumbers(LoadOp load);

  FuncOp kernel;
  const uint32_t kinds;
  OpBuilder builder;
  AddressArithmetic arithmetic;
  LaneFlags undefined, masked, wraps;
};
} // namespace

check::ValuesOp Inserter::add(Operation *op, Kind kind, StringRef what, ArrayRef<Value> values, Value mask) {
  SmallVector<Value> all(values);
  if (mask)
    all.push_back(mask);
  auto reported = check::ValuesOp::create(builder, op->getLoc(), kind, what, all);
  reported.setHasMask(static_cast<bool>(mask));
  return reported;
}

//--- accesses ------------------------------------------------------------------------------

static StringRef verbOf(MemoryAccessOpInterface op) {
  return !op.writesMemory() ? "read" : !op.readsMemory() ? "written" : "updated";
}

/// Does not check lanes that the mask excludes, or a pointer that comes from no argument.
void Inserter::access(MemoryAccessOpInterface op) {
  builder.setInsertionPoint(op);
  Value pointer = op.getAccessedPointer(), mask = op.getAccessMask();
  if (wants(artifact::Uninit)) { // before the address is used
    defined(op, pointer, "the address", mask);
    if (mask)
      defined(op, mask, "the mask");
  }
  if (wants(artifact::Overflow))
    unwrapped(op, pointer, mask);
  const analysis::PointerSources sources = analysis::sourcesOf(pointer);
  if (sources.hasOthers || sources.arguments.empty())
    return;
  const int32_t argument = sources.arguments.size() == 1 ? sources.arguments.front().getArgNumber() : -1;
  if (wants(artifact::Bounds))
    add(op, Kind::Bounds, verbOf(op), {pointer}, mask).setArgument(argument);
  if (wants(artifact::Uninit))
    initialised(op);
}

void Inserter::initialised(MemoryAccessOpInterface op) {
  Value pointer = op.getAccessedPointer(), mask = op.getAccessMask();
  if (!op.readsMemory()) {
    defined(op, op.getStoredValue(), "the value", mask);
    add(op, Kind::Written, "written", {pointer, op.getStoredValue()}, mask);
    return;
  }
  if (op.writesMemory())
    for (Value operand : op->getOperands())
      if (operand != pointer && operand != mask)
        defined(op, operand, "the value", mask);
  add(op, Kind::Unwritten, verbOf(op), {pointer}, mask);
}

//--- values --------------------------------------------------------------------------------

void Inserter::defined(Operation *op, Value value, StringRef what, Value mask) {
  Value flags = undefined.of(value);
  if (!flags)
    return;
  if (mask && shapeOf(mask.getType()) != shapeOf(flags.getType()))
    mask = {};
  add(op, Kind::Undefined, what, {flags}, mask);
}

/// Ops that mix elements use the masked-off ones, too.
void Inserter::definedInputs(Operation *op) {
  builder.setInsertionPoint(op);
  auto checkable = dyn_cast<CheckableOpInterface>(op);
  const StringRef what = checkable ? checkable.getMixedElementName() : "";
  if (!what.empty())
    for (Value operand : op->getOperands())
      defined(op, operand, what);
}

static StringRef nameOf(Operation *op) {
  if (isa<arith::AddIOp, arith::AddFOp>(op))
    return "+";
  if (isa<arith::SubIOp, arith::SubFOp>(op))
    return "-";
  if (isa<arith::MulIOp, arith::MulFOp>(op))
    return "*";
  if (isa<arith::ShLIOp>(op))
    return "<<";
  if (isa<arith::DivFOp, PreciseDivFOp>(op))
    return "/";
  if (isa<PreciseSqrtOp>(op))
    return "sqrt";
  if (isa<arith::RemFOp>(op))
    return "%";
  return op->getName().stripDialect();
}

/// Lanes that no access uses may wrap: wraparound below 64 bits sets a flag, which is reported where the value is used.
void Inserter::overflow(Operation *op, bool isUnsigned) {
  if (isUnsigned && isa<arith::SubIOp>(op)) // comparisons of unsigned numbers count down past zero
    return;
  if (isIntegerSum(op))
    return sum(op, isUnsigned);
  add(op, Kind::Overflow, nameOf(op), {op->getOperand(0), op->getOperand(1)}).setIsUnsigned(isUnsigned);
  const bool isWide = elementOf(op->getResult(0).getType()).getIntOrFloatBitWidth() == 64; // ends the launch at once
  wraps.visit(op, isWide ? Value() : wrapped(builder, op, isUnsigned));
}

void Inserter::sum(Operation *op, bool isUnsigned) {
  Value narrow = op->getResult(0), exact = exactSum(builder, op, isUnsigned);
  add(op, Kind::Overflow, "sum", {narrow, exact}).setIsUnsigned(isUnsigned);
  Value widened = isUnsigned ? arith::ExtUIOp::create(builder, op->getLoc(), exact.getType(), narrow).getResult()
                             : arith::ExtSIOp::create(builder, op->getLoc(), exact.getType(), narrow).getResult();
  wraps.visitCombined(op, arith::CmpIOp::create(builder, op->getLoc(), arith::CmpIPredicate::ne, exact, widened));
}

void Inserter::unwrapped(Operation *op, Value value, Value mask) {
  if (Value flags = wraps.of(value))
    add(op, Kind::Wrapped, "", {flags}, mask);
}

static bool isFloat(Value value) { return isa<FloatType>(elementOf(value.getType())); }

/// Ops that can produce NaN where no input is NaN.
static bool mayMakeNan(Operation *op) {
  if (auto checkable = dyn_cast<CheckableOpInterface>(op))
    return checkable.mayProduceNan();
  if (isa<arith::SelectOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::NegFOp,
          arith::ExtFOp, math::AbsFOp, math::CopySignOp, math::FloorOp, math::CeilOp>(op))
    return false;
  return op->hasTrait<OpTrait::Elementwise>();
}

void Inserter::numbers(Operation *op) {
  SmallVector<Value> inputs = llvm::filter_to_vector(op->getOperands(), isFloat);
  if (inputs.empty() || !mayMakeNan(op))
    return;
  for (Value result : op->getResults()) {
    if (!isFloat(result))
      continue;
    SmallVector<Value> values{result};
    values.append(inputs);
    Value skipped = masked.of(result);
    auto nanCheck = add(op, Kind::Nan, nameOf(op), values, skipped ? negated(builder, op->getLoc(), skipped) : Value());
    auto checkable = dyn_cast<CheckableOpInterface>(op);
    if (std::optional<int32_t> axis = checkable ? checkable.getCombinedAxis() : std::nullopt)
      nanCheck.setAxis(*axis);
  }
}

void Inserter::loadedNumbers(LoadOp load) {
  if (isFloat(load.getResult()))
    add(load, Kind::Nan, "load", {load.getResult()}, load.getMask());
}

//--- the kernel ----------------------------------------------------------------------------

void Inserter::visit(Operation *op) {
  if (auto interface = dyn_cast<MemoryAccessOpInterface>(op))
    access(interface);
  if (wants(artifact::Uninit))
    definedInputs(op);
  if (op->hasTrait<OpTrait::IsTerminator>() || isa<RegionBranchOpInterface>(op)) {
    builder.setInsertionPoint(op);
    for (Value operand : op->getOperands()) // values of control flow have no flags, so they are checked here
      if (arithmetic.values.contains(operand))
        unwrapped(op, operand);
    return;
  }
  builder.setInsertionPoint(op->getNextNode()); // and so after the flags of its results
  if (wants(artifact::Uninit))
    undefined.visit(op, maskedOff(builder, op, /*withOther=*/false));
  if (wants(artifact::Nan))
    masked.visit(op, maskedOff(builder, op, /*withOther=*/true));
  if (auto found = arithmetic.ops.find(op); found != arithmetic.ops.end())
    overflow(op, found->second);
  else if (llvm::any_of(op->getResults(), [&](Value value) { return arithmetic.values.contains(value); }))
    isa<ReduceOp, ScanOp>(op) ? wraps.visitCombined(op) : wraps.visit(op);
  if (wants(artifact::Nan))
    numbers(op);
  if (auto load = dyn_cast<LoadOp>(op); load && wants(artifact::NanLoads))
    loadedNumbers(load);
}

void Inserter::run() {
  if (wants(artifact::Overflow))
    arithmetic = addressArithmetic(kernel);
  SmallVector<Operation *> ops;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    ops.push_back(op);
    // The scalars of combine functions have no tile to point into.
    return isa<CheckableOpInterface>(op) && op->getNumRegions() ? WalkResult::skip() : WalkResult::advance();
  });
  for (Operation *op : llvm::drop_begin(ops)) // the first is the kernel
    visit(op);
}

namespace {
struct InsertChecks : nereid::tt::impl::InsertChecksBase<InsertChecks> {
  using InsertChecksBase::InsertChecksBase;

  void runOnOperation() final {
    std::string reason;
    auto set = artifact::parseSanitizers(llvm::join(kinds.begin(), kinds.end(), ","), reason);
    if (!set) {
      getOperation()->emitError() << reason;
      return signalPassFailure();
    }
    getOperation()->walk([&](FuncOp kernel) { Inserter(kernel, *set).run(); });
  }
};
} // namespace
