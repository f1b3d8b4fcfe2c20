// Runs the steps of planning in order, and defines the functions that they share.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/PlanBuilder.h"

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

Step PlanContext::materialiseStep(Value value, const char *purpose) {
  Step step;
  step.kind = StepKind::Nest;
  step.nest = newNest(tt::shapeOf(value.getType()));
  const BufferId buffer = newBuffer(value.getType(), purpose);
  plan.bufferOf[value] = buffer;
  step.nest->roots.push_back({RootKind::Materialise, value.getDefiningOp(), value, {buffer}});
  return step;
}

void cpu::forEachStep(const Step &step, llvm::function_ref<void(const Step &)> visit) {
  visit(step);
  for (const Sequence &region : step.regions)
    for (const Step &inner : region.steps)
      forEachStep(inner, visit);
}

void cpu::forEachNest(const Step &step, llvm::function_ref<void(Nest &)> visit) {
  if (step.nest)
    visit(*step.nest);
  for (const Sequence &region : step.regions)
    for (const Step &inner : region.steps)
      forEachNest(inner, visit);
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

ArrayRef<int64_t> cpu::shapeOfRoot(const Root &root) {
  if (root.kind == RootKind::Materialise || root.kind == RootKind::Assign)
    return tt::shapeOf(root.value.getType());
  return tt::shapeOf(root.op->getOperand(0).getType());
}

FailureOr<LoopPlan> cpu::makePlan(tt::FuncOp kernel, AffineInfo &affineInfo, const CpuFeatures &machine,
                                  RootTable rootTable) {
  LoopPlan plan;
  PlanContext context{plan, affineInfo, machine, rootTable, llvm::DenseMap<Operation *, unsigned>()};
  kernel.walk<WalkOrder::PreOrder>([&, next = 0u](Operation *op) mutable { context.positions[op] = next++; });
  kernel.walk([&](Operation *op) { // in program order, so that no analysis recurses deeply
    for (Value value : op->getResults())
      if (isa<RankedTensorType>(value.getType())) {
        affineInfo.affine(value);
        affineInfo.dependence(value);
        affineInfo.prefix(value);
      }
  });
  FailureOr<Sequence> body = sequence(context, kernel.getBody().front());
  if (failed(body))
    return failure();
  plan.body = std::move(*body);
  materialiseExpensive(context, plan.body);
  protectLoads(context, plan.body);
  doubleBuffers(context, plan.body);
  peelFirstIterations(context, plan.body);
  vectorise(context, plan.body);
  allocateBuffers(context);
  return plan;
}
