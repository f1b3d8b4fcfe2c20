// Runs the steps of planning in order, and defines the functions that they share.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/VerifyPlan.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

BufferId PlanContext::newBuffer(Type element, ArrayRef<int64_t> shape, const char *purpose) {
  Buffer buffer;
  buffer.element = element;
  buffer.shape.assign(shape.begin(), shape.end());
  buffer.purpose = purpose;
  plan.buffers.push_back(std::move(buffer));
  return plan.buffers.size() - 1;
}

BufferId PlanContext::newBuffer(Type tile, const char *purpose) {
  return newBuffer(tt::elementOf(tile), tt::shapeOf(tile), purpose);
}

std::unique_ptr<Nest> PlanContext::newNest(ArrayRef<int64_t> shape) {
  auto nest = std::make_unique<Nest>();
  nest->id = nextNest++;
  nest->shape.assign(shape.begin(), shape.end());
  return nest;
}

Root PlanContext::materialiseRoot(Value value, const char *purpose) {
  const BufferId buffer = newBuffer(value.getType(), purpose);
  plan.bufferOf[value] = buffer;
  return {RootKind::Materialise, value.getDefiningOp(), value, {buffer}};
}

Step PlanContext::nestStep(Root root) {
  Step step;
  step.kind = StepKind::Nest;
  step.nest = newNest(shapeOfRoot(root));
  step.nest->roots.push_back(std::move(root));
  return step;
}

Nest &PlanContext::nestOfOnly(std::vector<Root>::iterator root, std::vector<Step> &steps, size_t &index) {
  std::vector<Root> &roots = steps[index].nest->roots;
  if (roots.size() == 1)
    return *steps[index].nest;
  Step step = nestStep(std::move(*root));
  roots.erase(root);
  return *steps.insert(steps.begin() + index++, std::move(step))->nest;
}

void cpu::forEachStep(const Step &step, llvm::function_ref<void(const Step &)> visit) {
  forEachStep(const_cast<Step &>(step), [&](Step &inner) { visit(inner); });
}

void cpu::forEachStep(Step &step, llvm::function_ref<void(Step &)> visit) {
  visit(step);
  for (Sequence &region : step.regions)
    for (Step &inner : region.steps)
      forEachStep(inner, visit);
}

void cpu::forEachNest(const Step &step, llvm::function_ref<void(Nest &)> visit) {
  if (step.nest)
    visit(*step.nest);
  for (const Sequence &region : step.regions)
    for (const Step &inner : region.steps)
      forEachNest(inner, visit);
}

std::optional<IndexedOperand> cpu::indexedOperand(Operation *op) {
  auto moves = dyn_cast_or_null<tt::ElementMapOpInterface>(op);
  if (!moves || op->getNumOperands() != 2)
    return std::nullopt;
  for (unsigned index : {0u, 1u})
    for (auto [dim, place] : llvm::enumerate(moves.getElementMap(index, 0)))
      if (place == tt::ElementIndex::any())
        return IndexedOperand{op->getOperand(index), static_cast<unsigned>(dim), op->getOperand(1 - index)};
  return std::nullopt;
}

bool cpu::usesTiles(const LoopPlan &plan) {
  bool isFound = false;
  for (const Step &step : plan.body.steps)
    forEachStep(step, [&](const Step &inner) { isFound |= inner.dot && inner.dot->form.usesTiles; });
  return isFound;
}

bool cpu::isIdentity(ArrayRef<int64_t> shape, const IndexMap &map, const Nest &nest) {
  if (shape != ArrayRef<int64_t>(nest.shape))
    return false;
  for (auto [dim, loop] : llvm::enumerate(map))
    if (shape[dim] != 1 && loop != static_cast<int>(dim))
      return false;
  return true;
}

bool cpu::isRead(const LoopPlan &plan, const Nest &nest, Value value) {
  return plan.bufferOf.contains(value) && llvm::none_of(nest.roots, [&](const Root &root) {
           return root.kind == RootKind::Materialise && root.value == value;
         });
}

llvm::SetVector<Operation *> cpu::loadsOf(const LoopPlan &plan, AffineInfo &affineInfo, const Nest &nest) {
  llvm::SetVector<Operation *> loads;
  ExpressionWalk walk(affineInfo, [&](Value value, const IndexMap &) {
    if (plan.bufferOf.contains(value))
      return false;
    if (value.getDefiningOp<tt::LoadOp>() && isa<RankedTensorType>(value.getType()))
      loads.insert(value.getDefiningOp());
    return true;
  });
  for (const Root &root : nest.roots) {
    if (root.kind == RootKind::Materialise && isa_and_nonnull<tt::LoadOp>(root.op))
      loads.insert(root.op);
    walk.root(root);
  }
  return loads;
}

bool cpu::isHintOrBarrier(Operation *op) { return isa<imported::AssumeOp, imported::BarrierOp, ttg::BarrierOp>(op); }

ArrayRef<int64_t> cpu::shapeOfRoot(const Root &root) {
  if (root.kind == RootKind::Materialise || root.kind == RootKind::Assign)
    return tt::shapeOf(root.value.getType());
  return tt::shapeOf(root.op->getOperand(0).getType());
}

static LogicalResult sequenceKernel(PlanContext &context, tt::FuncOp kernel) {
  FailureOr<Sequence> body = sequence(context, kernel.getBody().front());
  if (failed(body))
    return failure();
  context.plan.body = std::move(*body);
  return success();
}

static LogicalResult reuseAll(PlanContext &context, tt::FuncOp kernel) {
  reuseOperands(context, kernel);
  return success();
}

static LogicalResult vectoriseAll(PlanContext &context, tt::FuncOp) {
  vectorise(context, context.plan.body);
  context.plan.state = PlanState::Vectorised;
  return success();
}

static LogicalResult chooseAllVersions(PlanContext &context, tt::FuncOp) {
  chooseVersions(context, context.plan.body);
  context.plan.state = PlanState::Versioned;
  return success();
}

static LogicalResult planCacheAccesses(PlanContext &context, tt::FuncOp kernel) {
  planPrefetches(context, kernel);
  planStreaming(context, kernel);
  return success();
}

static LogicalResult allocateAll(PlanContext &context, tt::FuncOp) {
  allocateBuffers(context);
  return success();
}

/// A step that refines the sequence.
template <void (*refine)(PlanContext &, Sequence &)> static LogicalResult refineBody(PlanContext &context, tt::FuncOp) {
  refine(context, context.plan.body);
  return success();
}

ArrayRef<PlanStep> cpu::planSteps() {
  static const PlanStep steps[] = {{"sequence", sequenceKernel},
                                   {"materialise-expensive", refineBody<materialiseExpensive>},
                                   {"protect-loads", refineBody<protectLoads>},
                                   {"transpose-loads", refineBody<transposeLoads>},
                                   {"double-buffers", refineBody<doubleBuffers>},
                                   {"peel-first-iterations", refineBody<peelFirstIterations>},
                                   {"reuse-operands", reuseAll},
                                   {"postpone-dots", refineBody<postponeDots>},
                                   {"choose-orders", refineBody<chooseOrders>},
                                   {"vectorise", vectoriseAll},
                                   {"choose-versions", chooseAllVersions},
                                   {"plan-prefetches", planCacheAccesses},
                                   {"allocate-buffers", allocateAll}};
  return steps;
}

/// Analyses all tiles in program order, so that no analysis recurses deeply.
static void analyseTiles(tt::FuncOp kernel, AffineInfo &affineInfo) {
  kernel.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (isa<RankedTensorType>(value.getType())) {
        affineInfo.affine(value);
        affineInfo.dependence(value);
        affineInfo.prefix(value);
      }
  });
}

/// In builds with assertions, reports what is wrong with the plan.
static LogicalResult verifyAfter(const PlanStep &step, tt::FuncOp kernel, const LoopPlan &plan,
                                 AffineInfo &affineInfo) {
#ifndef NDEBUG
  if (const std::string error = findError(plan, affineInfo); !error.empty())
    return kernel.emitError() << "the plan is invalid after `" << step.name << "`: " << error;
#endif
  (void)step, (void)kernel, (void)plan, (void)affineInfo;
  return success();
}

FailureOr<LoopPlan> cpu::makePlan(tt::FuncOp kernel, AffineInfo &affineInfo, const CpuFeatures &machine,
                                  RootTable rootTable, int64_t stagesOfDots, PlanObserver afterStep) {
  LoopPlan plan;
  PlanContext context{plan, affineInfo, machine, rootTable, stagesOfDots, llvm::DenseMap<Operation *, unsigned>()};
  kernel.walk<WalkOrder::PreOrder>([&, next = 0u](Operation *op) mutable { context.positions[op] = next++; });
  analyseTiles(kernel, affineInfo);
  for (const PlanStep &step : planSteps()) {
    if (failed(step.run(context, kernel)) || failed(verifyAfter(step, kernel, plan, affineInfo)))
      return failure();
    if (afterStep)
      afterStep(step, plan);
  }
  return plan;
}
