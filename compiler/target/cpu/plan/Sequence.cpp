// Fuses adjacent roots of one shape into nests and places scalars and control flow between them.
// SPDX-License-Identifier: MIT
//
// One nest is open at a time. A root joins it unless it needs a result that the nest only has at its end. Scalars that
// depend on the open nest are placed after it, all others before it.
#include "compiler/dialect/check/Dialect.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/target/cpu/plan/Combiner.h"
#include "compiler/target/cpu/plan/Diagnostics.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

class Sequencer {
public:
  Sequencer(PlanContext &context, Block &block) : context(context) { result.block = &block; }

  FailureOr<Sequence> run();

private:
  LogicalResult visit(Operation *op);
  LogicalResult tileOp(Operation *op);
  void dotOp(tt::DotOp op);
  TileDot::Operand operand(tt::DotOp op, Value value);
  TileDot::Operand operandAsRead(tt::DotOp op, Value value);
  bool canStayInMemory(tt::DotOp op, Value value);
  void scalarOp(Operation *op);
  void noteDependent(Operation *op);
  LogicalResult controlOp(Operation *op);
  void terminator(Operation *op);

  void addRoot(Root root);
  void addOpRoot(const RootTraits &traits, Operation *op);
  void materialiseSource(Operation *gather, Value source);
  bool canJoin(const Root &root);
  bool readsSafely(const Root &root);
  void close();
  void assign(ValueRange values, ArrayRef<std::optional<BufferId>> buffers, ValueRange unchanged, Operation *op);
  SmallVector<std::optional<BufferId>> carry(TypeRange types, const char *purpose);
  void bind(ArrayRef<std::optional<BufferId>> buffers, ValueRange values);

  PlanContext &context;
  Sequence result;
  std::unique_ptr<Nest> open;
  SmallVector<Operation *> deferredScalars; ///< scalars after the open nest
  DenseSet<Value> pendingValues;            ///< values that the open nest and the deferred scalars define
  DenseSet<Value> dependents;               ///< tiles that are computed from pending values where they are used
  bool hasDependentLoad = false;            ///< a load, of a tile or a scalar, depends on the open nest
};

} // namespace

static bool hasTile(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return isa<RankedTensorType>(type); });
}

FailureOr<Sequence> Sequencer::run() {
  for (Operation &op : *result.block)
    if (failed(visit(&op)))
      return failure();
  close();
  return std::move(result);
}

LogicalResult Sequencer::visit(Operation *op) {
  if (isa<scf::YieldOp, scf::ConditionOp, tt::ReturnOp>(op)) {
    terminator(op);
    return success();
  }
  if (isHintOrBarrier(op))
    return success();
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(op))
    return controlOp(op);
  if (hasTile(op->getOperandTypes()) || hasTile(op->getResultTypes()))
    return tileOp(op);
  if (op->getNumRegions())
    return tt::report(op->getLoc(), diag::OpUnsupported, op->getName().stripDialect());
  scalarOp(op);
  return success();
}

//--- nests ---------------------------------------------------------------------------------

void Sequencer::close() {
  if (!open)
    return;
  Step step;
  step.kind = StepKind::Nest;
  step.nest = std::move(open);
  result.steps.push_back(std::move(step));
  for (Operation *op : deferredScalars) {
    Step scalar;
    scalar.op = op;
    result.steps.push_back(std::move(scalar));
  }
  deferredScalars.clear();
  pendingValues.clear();
  dependents.clear();
  hasDependentLoad = false;
}

/// Whether no load of the root comes after a store of the open nest.
bool Sequencer::readsSafely(const Root &root) {
  unsigned firstStore = ~0u;
  for (const Root &other : open->roots)
    if (other.isWrite())
      firstStore = std::min(firstStore, context.positions.lookup(other.op));
  bool isSafe = root.kind != RootKind::Materialise ||
                !pendingValues.contains(root.value); // a gather whose source is not complete
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &) {
    Operation *op = value.getDefiningOp();
    if (pendingValues.contains(value) || (isa_and_nonnull<tt::LoadOp>(op) && context.positions.lookup(op) > firstStore))
      isSafe = false;
    return isSafe && !context.plan.bufferOf.contains(value);
  });
  walk.root(root);
  return isSafe;
}

/// Whether the root never shares a nest: its loops run in an order of their own, or lane by lane.
static bool isAlone(const Root &root) {
  return root.kind == RootKind::Op && (root.traits->isAlone || needsScalars(root.op));
}

static bool isStore(const Root &root) { return isa_and_nonnull<tt::StoreOp>(root.op); }

/// Whether the root reads memory exactly at its position among the accesses of the program.
static bool isVolatile(const Root &root) {
  auto load = dyn_cast_or_null<tt::LoadOp>(root.op);
  return root.kind == RootKind::Materialise && load && load.getIsVolatile();
}

bool Sequencer::canJoin(const Root &root) {
  if (isVolatile(root) || (open && llvm::any_of(open->roots, isVolatile)))
    return false;
  if (!open || shapeOfRoot(root) != ArrayRef<int64_t>(open->shape) || isAlone(root))
    return false;
  if (isStore(root) && hasDependentLoad)
    return false;
  for (const Root &other : open->roots) {
    if (isAlone(other) || (isStore(root) && isStore(other)))
      return false;
    if (root.axis() >= 0 && other.axis() >= 0 && root.axis() != other.axis())
      return false;
  }
  return readsSafely(root);
}

void Sequencer::addRoot(Root root) {
  if (!canJoin(root)) {
    close();
    open = context.newNest(shapeOfRoot(root));
  }
  if (root.kind == RootKind::Op)
    for (Value value : root.op->getResults())
      pendingValues.insert(value);
  if (root.kind == RootKind::Materialise)
    pendingValues.insert(root.value);
  open->roots.push_back(std::move(root));
}

//--- ops -----------------------------------------------------------------------------------

void Sequencer::scalarOp(Operation *op) {
  auto access = dyn_cast<tt::MemoryAccessOpInterface>(op);
  if ((access && access.keepsOrder()) || isa<tt::PrintOp, tt::AssertOp, check::ValuesOp>(op) ||
      (isa<tt::LoadOp>(op) && open && open->writesMemory()))
    close();
  if (open && llvm::any_of(op->getOperands(), [&](Value operand) { return pendingValues.contains(operand); })) {
    deferredScalars.push_back(op);
    pendingValues.insert(op->result_begin(), op->result_end());
    hasDependentLoad |= isa<tt::LoadOp>(op);
    return;
  }
  Step step;
  step.op = op;
  result.steps.push_back(std::move(step));
}

/// Adds a root that writes its results of rank 1 and more to buffers.
void Sequencer::addOpRoot(const RootTraits &traits, Operation *op) {
  Root root;
  root.op = op;
  root.traits = &traits;
  for (Value value : op->getResults())
    if (isa<RankedTensorType>(value.getType()) && !(traits.skipsUnused && value.use_empty())) {
      root.buffers.push_back(context.newBuffer(value.getType(), traits.purpose));
      context.plan.bufferOf[value] = root.buffers.back();
    }
  addRoot(std::move(root));
}

/// A gather reads its source from a buffer: the source's own where it is computed in this basic block, so that all
/// later code may read it there.
void Sequencer::materialiseSource(Operation *gather, Value source) {
  if (auto found = context.plan.bufferOf.find(source); found != context.plan.bufferOf.end()) {
    context.plan.wholeOperands[gather] = found->second;
    return;
  }
  const BufferId buffer = context.newBuffer(source.getType(), "gathered");
  context.plan.wholeOperands[gather] = buffer;
  if (source.getDefiningOp() && source.getParentBlock() == result.block) {
    addRoot({RootKind::Materialise, source.getDefiningOp(), source, {buffer}});
    context.plan.bufferOf[source] = buffer;
    return;
  }
  addRoot({RootKind::Assign, gather, source, {buffer}});
  pendingValues.insert(gather->getResult(0));
}

/// The purpose of the buffers of the tiles that the op passes to the host.
static const char *purposeOf(Operation *op) {
  return isa<tt::PrintOp>(op) ? "printed" : isa<tt::AssertOp>(op) ? "asserted" : "checked";
}

LogicalResult Sequencer::tileOp(Operation *op) {
  for (const RootTraits *traits : context.rootTable)
    if (traits->matches(op)) {
      addOpRoot(*traits, op);
      return success();
    }
  if (const std::optional<IndexedOperand> indexed = indexedOperand(op)) {
    materialiseSource(op, indexed->source);
    return success();
  }
  if (isa<tt::CatOp>(op)) {
    const BufferId buffer = context.newBuffer(op->getResult(0).getType(), "concatenated");
    const uint64_t half = tt::shapeOf(op->getOperand(0).getType())[0];
    for (unsigned index : {0u, 1u})
      addRoot({RootKind::Assign, op, op->getOperand(index), {buffer}, index * half});
    context.plan.bufferOf[op->getResult(0)] = buffer;
    pendingValues.insert(op->getResult(0));
    return success();
  }
  if (isa<tt::PrintOp, tt::AssertOp, check::ValuesOp>(op)) {
    SmallVector<std::optional<BufferId>> &buffers = context.plan.operandsOf[op];
    for (Value operand : op->getOperands()) {
      buffers.emplace_back();
      if (!isa<RankedTensorType>(operand.getType()))
        continue;
      buffers.back() = context.newBuffer(operand.getType(), purposeOf(op));
      addRoot({RootKind::Assign, op, operand, {*buffers.back()}});
    }
    close();
    Step step;
    step.op = op;
    result.steps.push_back(std::move(step));
    return success();
  }
  if (isa<tt::ExternElementwiseOp, tt::ElementwiseInlineAsmOp>(op) && !isMemoryEffectFree(op)) {
    for (Value value : op->getResults()) { // once for each element, in program order
      const BufferId buffer = context.newBuffer(value.getType(), "effect");
      addRoot({RootKind::Materialise, op, value, {buffer}});
      context.plan.bufferOf[value] = buffer;
    }
    return success();
  }
  if (auto load = dyn_cast<tt::LoadOp>(op); load && load.getIsVolatile()) {
    const BufferId buffer = context.newBuffer(load.getType(), "volatile");
    addRoot({RootKind::Materialise, op, load.getResult(), {buffer}});
    context.plan.bufferOf[load.getResult()] = buffer;
    return success();
  }
  if (isa<tt::ReshapeOp>(op) && !isComputable(op)) {
    // Row-major order does not change: the result reads the source's elements from its buffer.
    const BufferId buffer = context.newBuffer(op->getOperand(0).getType(), "reshaped");
    addRoot({RootKind::Assign, op, op->getOperand(0), {buffer}});
    context.plan.bufferOf[op->getResult(0)] = buffer;
    pendingValues.insert(op->getResult(0));
    return success();
  }
  if (auto dot = dyn_cast<tt::DotOp>(op)) {
    dotOp(dot);
    return success();
  }
  if (!isComputable(op))
    return tt::report(op->getLoc(), diag::OpUnsupported, op->getName().stripDialect());
  noteDependent(op); // computed where it is used
  return success();
}

/// A load after the open nest must precede later stores, and must follow what it depends on.
void Sequencer::noteDependent(Operation *op) {
  if (llvm::none_of(op->getOperands(),
                    [&](Value operand) { return pendingValues.contains(operand) || dependents.contains(operand); }))
    return;
  dependents.insert(op->result_begin(), op->result_end());
  hasDependentLoad |= isa<tt::LoadOp>(op);
}

//--- dots ----------------------------------------------------------------------------------

/// The buffer of the tile, or of a copy that is made at the tile's definition: once for all iterations of an inner
/// loop.
TileDot::Operand Sequencer::operand(tt::DotOp op, Value value) {
  if (auto found = context.plan.bufferOf.find(value); found != context.plan.bufferOf.end())
    return {value, found->second, false};
  // Groups are adjacent in the rows of `a`.
  const bool isFixed = value == op.getA() && dotForm(op, context.machine).group > 1;
  if (!isFixed && !value.getDefiningOp<arith::ConstantOp>() && isReadByColumns(context, value)) {
    TileDot::Operand asTransposed = operandAsRead(op, transposed(value));
    asTransposed.isTransposed = true;
    return asTransposed;
  }
  return operandAsRead(op, value);
}

TileDot::Operand Sequencer::operandAsRead(tt::DotOp op, Value value) {
  if (auto found = context.plan.bufferOf.find(value); found != context.plan.bufferOf.end())
    return {value, found->second, false};
  auto [entry, isNew] = context.operandOf.try_emplace(value, 0);
  if (isNew) {
    entry->second = context.newBuffer(value.getType(), "operand");
    Root root{RootKind::Assign, op, value, {entry->second}};
    if (value.getParentBlock() != result.block) {
      context.outerOperands.push_back(std::move(root));
    } else if (canStayInMemory(op, value)) {
      close();
      addRoot(std::move(root));
      open->inPlace = value.getDefiningOp();
      close();
    } else {
      addRoot(std::move(root));
    }
  }
  return {{}, entry->second, false};
}

/// Whether the dot could read the tile from the load's memory: rows of contiguous elements that it reads one by one.
bool Sequencer::canStayInMemory(tt::DotOp op, Value value) {
  auto load = value.getDefiningOp<tt::LoadOp>();
  if (!load || load.getIsVolatile() || value != op.getA() || !value.hasOneUse())
    return false;
  const AffineForm *form = context.affineInfo.assumed(load.getPtr());
  const int64_t size = storageBytes(tt::elementOf(value.getType()));
  if (!form || form->steps.size() != 2 || form->steps[1].constant() != size)
    return false;
  // Narrower dots have so many rows that their addresses would not stay in registers.
  const int64_t rowBits = tt::shapeOf(op.getType())[1] * storageBytes(tt::elementOf(op.getType())) * 8;
  return rowBits >= 2 * static_cast<int64_t>(context.machine.registerBits);
}

void Sequencer::dotOp(tt::DotOp op) {
  Step step;
  step.kind = StepKind::Dot;
  step.op = op;
  step.dot = std::make_unique<TileDot>();
  step.dot->a = operand(op, op.getA());
  step.dot->b = operand(op, op.getB());
  step.dot->form = dotForm(op, context.machine);
  if (step.dot->b.isTransposed || step.dot->form.group > 1)
    step.dot->packed = context.newBuffer(op.getB().getType(), "packed");
  if (step.dot->form.needsUnsignedA()) {
    ArrayRef<int64_t> a = tt::shapeOf(op.getA().getType()), d = tt::shapeOf(op.getType());
    const Type byte = tt::elementOf(op.getA().getType()), word = tt::elementOf(op.getType());
    step.dot->unsignedA = context.newBuffer(RankedTensorType::get(a.take_back(2), byte), "unsigned");
    step.dot->columnSums = context.newBuffer(RankedTensorType::get(d.take_back(1), word), "sums");
  }
  std::optional<BufferId> accumulator = carriedAccumulator(context.plan, op);
  if (accumulator)
    context.plan.updates.insert(op.getD());
  auto earlier = op.getC().getDefiningOp<tt::DotOp>();
  if (!accumulator && earlier && earlier->getBlock() == result.block && earlier->hasOneUse())
    accumulator = context.plan.bufferOf.lookup(earlier.getD());
  step.dot->d = accumulator ? *accumulator : context.newBuffer(op.getType(), "dot");
  step.dot->stored = storedPart(context.affineInfo, op);
  step.dot->startsAtZero = matchPattern(op.getC(), m_AnyZeroFloat()) || matchPattern(op.getC(), m_Zero());
  const bool isThere = earlier && context.plan.bufferOf.lookup(op.getC()) == step.dot->d;
  if (!step.dot->startsAtZero && !isThere)
    addRoot({RootKind::Assign, op, op.getC(), {step.dot->d}});
  close();
  context.plan.bufferOf[op.getD()] = step.dot->d;
  result.steps.push_back(std::move(step));
}

//--- control flow --------------------------------------------------------------------------

SmallVector<std::optional<BufferId>> Sequencer::carry(TypeRange types, const char *purpose) {
  SmallVector<std::optional<BufferId>> buffers;
  for (Type type : types)
    buffers.push_back(isa<RankedTensorType>(type) ? std::optional(context.newBuffer(type, purpose)) : std::nullopt);
  return buffers;
}

void Sequencer::bind(ArrayRef<std::optional<BufferId>> buffers, ValueRange values) {
  for (auto [buffer, value] : llvm::zip_equal(buffers, values))
    if (buffer)
      context.plan.bufferOf[value] = *buffer;
}

void Sequencer::assign(ValueRange values, ArrayRef<std::optional<BufferId>> buffers, ValueRange unchanged,
                       Operation *op) {
  for (auto [index, value] : llvm::enumerate(values))
    if (buffers[index] && (unchanged.empty() || unchanged[index] != value) &&
        !(context.plan.updates.contains(value) && context.plan.bufferOf.lookup(value) == *buffers[index]))
      addRoot({RootKind::Assign, op, value, {*buffers[index]}});
}

LogicalResult Sequencer::controlOp(Operation *op) {
  auto &carried = context.plan.carried[op];
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    carried = carry(loop.getInitArgs().getTypes(), "carried");
    bind(carried, loop.getRegionIterArgs());
    bind(carried, loop.getResults());
    assign(loop.getInitArgs(), carried, {}, op);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    carried = carry(loop.getInits().getTypes(), "carried");
    bind(carried, loop.getBeforeArguments());
    assign(loop.getInits(), carried, {}, op);
    auto &forwarded = context.plan.forwarded[op];
    forwarded = carry(loop.getResultTypes(), "forwarded");
    bind(forwarded, loop.getAfterArguments());
    bind(forwarded, loop.getResults());
  } else {
    carried = carry(op->getResultTypes(), "merged");
    bind(carried, op->getResults());
  }
  close();
  Step step;
  step.kind = StepKind::Control;
  step.op = op;
  for (Region &region : op->getRegions()) {
    if (region.empty()) {
      step.regions.emplace_back();
      continue;
    }
    FailureOr<Sequence> inner = sequence(context, region.front());
    if (failed(inner))
      return failure();
    step.regions.push_back(std::move(*inner));
  }
  std::vector<Root> outer = std::move(context.outerOperands);
  context.outerOperands.clear();
  for (Root &root : outer)
    if (root.value.getParentBlock() == result.block)
      addRoot(std::move(root));
    else
      context.outerOperands.push_back(std::move(root));
  close();
  result.steps.push_back(std::move(step));
  return success();
}

void Sequencer::terminator(Operation *op) {
  Operation *parent = op->getParentOp();
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    auto buffers = context.plan.forwarded.lookup(parent);
    assign(condition.getArgs(), buffers, {}, op);
    return;
  }
  if (!isa<scf::YieldOp>(op))
    return;
  auto buffers = context.plan.carried.lookup(parent);
  auto loop = dyn_cast<scf::ForOp>(parent);
  assign(op->getOperands(), buffers, loop ? ValueRange(loop.getRegionIterArgs()) : ValueRange(), op);
}

FailureOr<Sequence> cpu::sequence(PlanContext &context, Block &block) { return Sequencer(context, block).run(); }
