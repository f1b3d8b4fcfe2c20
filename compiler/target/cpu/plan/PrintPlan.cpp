// Text of a plan, for people and tests.
// SPDX-License-Identifier: MIT
//
// Scalars are named in the order of their first mention (s0, s1 ...) and described once, so that the text does not
// depend on SSA numbers.
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "compiler/analysis/PointerBases.h"
#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

class Printer {
public:
  Printer(const LoopPlan &plan, AffineInfo &affineInfo) : plan(plan), affineInfo(affineInfo), out(text) {}
  std::string run();

private:
  void sequence(const Sequence &sequence, unsigned depth);
  void nest(const Nest &nest, unsigned depth);
  void root(const Root &root, unsigned depth);
  void loads(const Nest &nest, unsigned depth);
  void versions(const Nest &nest, unsigned depth);
  void prefetches(Operation *loop, unsigned depth);
  void guard(const Guard &guard, unsigned depth);
  void dot(const Step &step, unsigned depth);
  std::string access(Value pointer);
  std::string poly(const Polynomial &poly);
  std::string name(Value scalar);
  std::string loadName(Operation *op);
  std::string accessName(Operation *op);
  llvm::raw_ostream &line(unsigned depth) { return out.indent(2 * depth); }

  const LoopPlan &plan;
  AffineInfo &affineInfo;
  std::string text;
  llvm::raw_string_ostream out;
  llvm::MapVector<Value, std::string> names;
  llvm::DenseMap<Operation *, unsigned> loadNumbers;
};

} // namespace

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return "[" + text + "]";
}

std::string Printer::name(Value scalar) {
  if (BlockArgument argument = analysis::functionArgument(scalar))
    return "arg" + std::to_string(argument.getArgNumber());
  std::string &known = names[scalar];
  if (known.empty())
    known = "s" + std::to_string(names.size() - 1);
  return known;
}

std::string Printer::loadName(Operation *op) {
  auto [entry, isNew] = loadNumbers.try_emplace(op, loadNumbers.size());
  return "load" + std::to_string(entry->second);
}

std::string Printer::accessName(Operation *op) {
  auto store = dyn_cast<tt::StoreOp>(op);
  return store ? "store " + access(store.getPtr()) : loadName(op);
}

std::string Printer::poly(const Polynomial &poly) {
  if (poly.isZero())
    return "0";
  std::string text;
  for (const Polynomial::Term &term : poly.terms()) {
    int64_t factor = term.coefficient;
    if (!text.empty())
      text += factor < 0 ? " - " : " + ";
    else if (factor < 0)
      text += "-";
    const uint64_t size = factor < 0 ? 0 - static_cast<uint64_t>(factor) : factor;
    bool needsTimes = false;
    if (size != 1 || term.factors.empty()) {
      text += std::to_string(size);
      needsTimes = true;
    }
    for (unsigned variable : term.factors) {
      const Remainder *entry = affineInfo.remainderOf(variable);
      text += needsTimes ? "*" : "";
      if (entry) {
        const Remainder remainder = *entry;
        text += "((" + this->poly(remainder.dividend) + ") % (" + this->poly(remainder.divisor) + "))";
      } else {
        text += name(affineInfo.valueOf(variable));
      }
      needsTimes = true;
    }
  }
  return text;
}

std::string Printer::access(Value pointer) {
  const AffineForm *affine = affineInfo.assumed(pointer);
  Type pointee = cast<tt::PointerType>(tt::elementOf(pointer.getType())).getPointee();
  std::string text;
  llvm::raw_string_ostream(text) << pointee;
  if (!affine)
    return text + " at computed addresses";
  const AffineForm form = *affine;
  text += " " + name(form.base) + " + " + poly(form.start) + " strides (";
  for (auto [dim, stride] : llvm::enumerate(form.steps))
    text += (dim ? ", " : "") + poly(stride);
  return text + (form.assumptions.empty() ? ")" : ") where no remainder wraps");
}

void Printer::root(const Root &root, unsigned depth) {
  switch (root.kind) {
  case RootKind::Op:
    line(depth);
    if (root.traits->print)
      root.traits->print(out, root.op, [&](Value pointer) { return access(pointer); });
    else
      out << root.op->getName().stripDialect();
    for (BufferId buffer : root.buffers)
      out << " into b" << buffer;
    out << "\n";
    return;
  case RootKind::Materialise:
    line(depth) << "materialise " << root.op->getName() << " in b" << root.written();
    break;
  case RootKind::Assign:
    line(depth) << "assign b" << root.written();
    break;
  }
  if (root.staging)
    out << " transposed into b" << root.buffers.front();
  out << "\n";
}

void Printer::loads(const Nest &nest, unsigned depth) {
  for (Operation *op : loadsOf(plan, affineInfo, nest)) {
    auto load = cast<tt::LoadOp>(op);
    line(depth) << loadName(op) << " " << access(load.getPtr()) << (load.getMask() ? " masked" : "")
                << (llvm::is_contained(nest.hoistedReads, load.getResult()) ? " hoisted" : "") << "\n";
  }
  llvm::SetVector<BufferId> buffers;
  ExpressionWalk walk(affineInfo, [&](Value value, const IndexMap &) {
    auto buffer = plan.bufferOf.find(value);
    if (buffer == plan.bufferOf.end())
      return true;
    buffers.insert(buffer->second);
    return false;
  });
  walk.nest(nest);
  for (BufferId buffer : buffers)
    line(depth) << "read b" << buffer << "\n";
}

/// The cases that the steps so far have set, and the versions.
void Printer::versions(const Nest &nest, unsigned depth) {
  if (nest.peeledLoop)
    line(depth) << "first iteration with constants\n";
  if (nest.inPlace)
    line(depth) << "left out where all of " << loadName(nest.inPlace) << " is in memory\n";
  if (nest.keptOperand) {
    const KeptOperand &operand = plan.keptOperands[*nest.keptOperand];
    line(depth) << "left out where b" << operand.tiles << " has the tile of";
    for (Value scalar : operand.scalars)
      out << " " << name(scalar);
    out << "\n";
  }
  for (const NestVersion &version : nest.versions) {
    if (version.kind == VersionKind::Exact)
      line(depth) << "version where one of " << version.ops.size() << " comparisons is of sums that overflow\n";
    if (version.kind == VersionKind::InPlace && !nest.inPlace)
      line(depth) << "version where all of " << loadName(version.ops.front()) << " is in memory\n";
    if (version.kind != VersionKind::Uncopied)
      continue;
    line(depth) << "version without the copies of";
    for (Operation *load : version.ops)
      out << " " << loadName(load);
    out << "\n";
  }
}

/// What is prefetched for the next iteration of the loop, or for the next program.
void Printer::prefetches(Operation *loop, unsigned depth) {
  auto found = plan.prefetches.find(loop);
  if (found == plan.prefetches.end())
    return;
  for (const Prefetch &tile : found->second.tiles)
    line(depth) << "prefetch " << accessName(tile.access) << " of the next " << (loop ? "iteration" : "program") << ", "
                << poly(tile.distance) << " bytes on, "
                << (tile.dot ? std::string("in the dot") : "in nest " + std::to_string(tile.nest)) << "\n";
  if (Operation *store = found->second.storeAfter)
    line(depth) << "prefetch " << accessName(store) << " in the dot of the last iteration\n";
}

void Printer::nest(const Nest &nest, unsigned depth) {
  line(depth) << "nest " << nest.id << " " << shapeText(nest.shape);
  if (nest.vectorDim >= 0) {
    out << " loops (";
    for (auto [index, dim] : llvm::enumerate(nest.order))
      out << (index ? ", d" : "d") << dim;
    out << ") vector d" << nest.vectorDim << " x" << nest.lanes;
    if (nest.equalElements > 1)
      out << ", one of " << nest.equalElements << " equal elements";
    if (nest.maskedLanes != nest.lanes && (nest.isCopy || !nest.masks.empty() || !nest.conditions.empty()))
      out << ", masked x" << nest.maskedLanes;
  }
  out << "\n";
  SmallVector<std::string> seen;
  for (const NestMask &mask : nest.masks) {
    std::string bound = "prefix d" + std::to_string(mask.prefix.dim) + " < " + poly(mask.prefix.bound);
    if (llvm::is_contained(seen, bound))
      continue;
    seen.push_back(bound);
    line(depth + 1) << bound << "\n";
  }
  if (!nest.conditions.empty())
    line(depth + 1) << "conditions " << nest.conditions.size() << "\n";
  versions(nest, depth + 1);
  loads(nest, depth + 1);
  for (const Root &root : nest.roots)
    this->root(root, depth + 1);
}

void Printer::guard(const Guard &guard, unsigned depth) {
  line(depth) << "guard " << loadName(guard.load) << " copy b" << guard.copy << " against " << guard.conflicts.size()
              << (guard.conflicts.size() == 1 ? " store" : " stores");
  if (llvm::any_of(guard.conflicts, [](const Guard::Conflict &conflict) { return conflict.sameIndex; }))
    out << ", equal bases are harmless";
  out << "\n";
}

void Printer::dot(const Step &step, unsigned depth) {
  auto op = cast<tt::DotOp>(step.op);
  const TileDot &dot = *step.dot;
  line(depth) << "dot " << shapeText(tt::shapeOf(op.getA().getType())) << " by "
              << shapeText(tt::shapeOf(op.getB().getType())) << " of b" << dot.a.buffer
              << (dot.a.isTransposed ? " transposed and b" : " and b") << dot.b.buffer
              << (dot.b.isTransposed ? " transposed" : "") << (dot.startsAtZero ? " into b" : " added to b") << dot.d;
  if (dot.form.group > 1)
    out << ", " << dot.form.group << " along K at once" << (dot.form.usesTiles ? " in tiles" : "");
  if (dot.iterations > 1)
    out << ", " << dot.iterations << " iterations at once";
  for (const auto &[name, end] : {std::pair("rows", &dot.stored.rows), std::pair("columns", &dot.stored.columns)})
    if (*end)
      out << ", " << name << " before " << poly(**end);
  out << "\n";
}

void Printer::sequence(const Sequence &sequence, unsigned depth) {
  for (const Step &step : sequence.steps) {
    switch (step.kind) {
    case StepKind::Scalar:
      break;
    case StepKind::Nest:
      nest(*step.nest, depth);
      break;
    case StepKind::Guard:
      guard(*step.guard, depth);
      break;
    case StepKind::Dot:
      dot(step, depth);
      break;
    case StepKind::Control:
      line(depth) << step.op->getName();
      for (const char *separator = " carries b"; std::optional<BufferId> buffer : plan.carried.lookup(step.op))
        if (buffer) {
          out << separator << *buffer;
          separator = ", b";
        }
      out << "\n";
      for (const Sequence &region : step.regions) {
        if (&region != &step.regions.front())
          line(depth) << (isa<scf::ForOp>(step.op) ? "where it has no iteration\n" : "and\n");
        this->sequence(region, depth + 1);
        if (&region == &step.regions.front())
          prefetches(step.op, depth + 1);
      }
      break;
    }
  }
}

std::string Printer::run() {
  for (auto [id, buffer] : llvm::enumerate(plan.buffers)) {
    out << "b" << id << " " << shapeText(buffer.shape) << " " << buffer.element << " " << buffer.purpose
        << (buffer.isDouble ? " double" : "");
    if (buffer.tiles > 1)
      out << ", " << buffer.tiles << " tiles";
    if (buffer.innermostDim() + 1 < buffer.shape.size())
      out << " d" << buffer.innermost << " innermost";
    out << "\n";
  }
  if (!plan.buffers.empty())
    out << "arena " << plan.arenaBytes << " bytes\n";
  sequence(plan.body, 0);
  prefetches(nullptr, 0);
  if (plan.streamedBytes)
    out << "stores of " << plan.streamedBytes << " bytes in each program may bypass the caches\n";
  for (auto &[value, name] : names) {
    out << name << " = ";
    if (Operation *op = value.getDefiningOp())
      out << op->getName();
    else
      out << "block argument " << cast<BlockArgument>(value).getArgNumber();
    out << "\n";
  }
  return text;
}

std::string cpu::print(const LoopPlan &plan, AffineInfo &affineInfo) { return Printer(plan, affineInfo).run(); }
