// Finds the layouts that the author of a kernel left open, by spreading those that are known.
//
//   %o = tt.make_range ... : tensor<64xi32, #gluon.auto_encoding>       %o = tt.make_range ... : tensor<64xi32,
//   #blocked> %p = gluon.set_auto_layout %o : ... -> tensor<64xi32, #blocked>  -> tt.store %q, %p :
//   tensor<64x!tt.ptr<i32>, #blocked>                 tt.store %q, %o : tensor<64x!tt.ptr<i32>, #blocked>
// SPDX-License-Identifier: MIT
#include "compiler/analysis/ValueFlow.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/passes/gluon/Diagnostics.h"
#include "compiler/passes/gluon/Passes.h"
#include "compiler/passes/ttg/LayoutCost.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace nereid::gluon {
#define GEN_PASS_DEF_RESOLVELAYOUTS
#include "compiler/passes/gluon/Passes.h.inc"
} // namespace nereid::gluon

using namespace mlir;
using namespace nereid;
using namespace nereid::gluon;
using ttg::LayoutEncoding;
using ttg::LayoutLink;

static Attribute layoutOf(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  return tile ? tile.getEncoding() : Attribute();
}

static RankedTensorType withLayout(Type type, Attribute layout) {
  return cast<RankedTensorType>(type).cloneWithEncoding(layout);
}

namespace {
class Resolver {
public:
  explicit Resolver(tt::FuncOp function) : function(function) {}
  LogicalResult run();
  unsigned numFound() const { return found.size(); }

private:
  void find(Value value, LayoutEncoding layout);
  void findAccesses();
  void collectFlow();
  void spread(Value value, LayoutEncoding layout);
  void spreadThrough(Operation *op, Value value, LayoutEncoding layout);
  LayoutEncoding ownLayout(const ttg::LayoutRelation &relation, Operation *op, Value value, LayoutEncoding layout);
  LogicalResult apply();

  tt::FuncOp function;
  llvm::MapVector<Value, LayoutEncoding> found;
  SmallVector<Value> pending;
  llvm::DenseMap<Value, SmallVector<Value, 2>> united; ///< by control flow
  bool isConflicting = false;
};
} // namespace

void Resolver::find(Value value, LayoutEncoding layout) {
  if (!isOpen(layoutOf(value)) || !layout)
    return;
  auto [entry, isNew] = found.insert({value, layout});
  if (isNew)
    return pending.push_back(value);
  if (entry->second == layout || isConflicting ||
      ttg::areEquivalent(entry->second, layout, cast<RankedTensorType>(value.getType()).getShape()))
    return;
  isConflicting = true;
  (void)tt::report(value.getLoc(), diag::LayoutConflict, value.getType(), entry->second, layout);
}

/// Accesses in a coalesced layout get the one in which they are fastest.
void Resolver::findAccesses() {
  std::optional<index::AxisInfoAnalysis> axes;
  function.walk([&](Operation *op) {
    const std::optional<analysis::MemoryAccess> access = analysis::anyAccessOf(op);
    if (!access || !isa_and_nonnull<CoalescedAttr>(layoutOf(access->pointer)))
      return;
    if (!axes)
      axes.emplace(function);
    find(access->pointer, ttg::preferredLayout(*access, *axes, {ttg::numWarpsOf(op), ttg::threadsPerWarpOf(op)}));
  });
}

void Resolver::collectFlow() {
  function.walk([&](RegionBranchOpInterface op) {
    analysis::forEachForwarded(op, [&](OpOperand &from, Value to) {
      if (!isa<RankedTensorType>(to.getType()))
        return;
      united[from.get()].push_back(to);
      united[to].push_back(from.get());
    });
  });
}

/// The layout in which the op works where one of its tiles has `layout`; null where that does not say.
LayoutEncoding Resolver::ownLayout(const ttg::LayoutRelation &relation, Operation *op, Value value,
                                   LayoutEncoding layout) {
  using Kind = LayoutLink::Kind;
  LayoutEncoding own;
  auto use = [&](Value tile, const LayoutLink &link) {
    if (tile != value || own)
      return;
    if (link.kind == Kind::Same)
      own = layout;
    else if (link.kind == Kind::ToOp || link.kind == Kind::FromOp)
      own = link.kind == Kind::ToOp ? link.transfer.forward(layout) : link.transfer.backward(layout);
  };
  for (auto [tile, link] : llvm::zip_equal(op->getOperands(), relation.operands))
    use(tile, link);
  for (auto [tile, link] : llvm::zip_equal(op->getResults(), relation.results))
    use(tile, link);
  return own;
}

void Resolver::spreadThrough(Operation *op, Value value, LayoutEncoding layout) {
  if (isa<SetAutoLayoutOp, ttg::ConvertLayoutOp, RegionBranchOpInterface>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return;
  ttg::LayoutRelation relation(op, {});
  if (auto related = dyn_cast<ttg::LayoutRelationOpInterface>(op)) {
    relation = related.getLayoutRelation();
  } else {
    relation.uniteOperands(op);
    relation.uniteResults(op);
  }
  const LayoutEncoding own = ownLayout(relation, op, value, layout);
  if (!own)
    return;
  using Kind = LayoutLink::Kind;
  for (auto [tile, link] : llvm::zip_equal(op->getOperands(), relation.operands))
    if (link.kind == Kind::Same)
      find(tile, own);
    else if (link.kind == Kind::ToOp || link.kind == Kind::FromOp)
      find(tile, link.kind == Kind::ToOp ? link.transfer.backward(own) : link.transfer.forward(own));
  for (auto [tile, link] : llvm::zip_equal(op->getResults(), relation.results))
    if (link.kind == Kind::Same)
      find(tile, own);
    else if (link.kind == Kind::FromOp)
      find(tile, link.transfer.forward(own));
}

void Resolver::spread(Value value, LayoutEncoding layout) {
  for (Value other : united.lookup(value))
    find(other, layout);
  if (Operation *op = value.getDefiningOp())
    spreadThrough(op, value, layout);
  for (Operation *user : value.getUsers())
    spreadThrough(user, value, layout);
}

/// Constants whose type has changed get values of it.
static void retypeConstant(arith::ConstantOp constant) {
  auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
  if (splat && splat.getType() != constant.getType())
    constant.setValueAttr(
        SplatElementsAttr::get(cast<ShapedType>(constant.getType()), splat.getSplatValue<Attribute>()));
}

/// Drops ops that only set layouts, and tiles of open layouts that nothing uses.
static void dropSetters(tt::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops)) { // users before what they use
    auto isOpenTile = [](Value value) { return isOpen(layoutOf(value)); };
    if (auto set = dyn_cast<SetAutoLayoutOp>(op); set && set.getSrc().getType() == set.getType()) {
      set.getResult().replaceAllUsesWith(set.getSrc());
      set.erase();
    } else if (op->getNumRegions() == 0 && op->use_empty() && llvm::any_of(op->getResults(), isOpenTile) &&
               isMemoryEffectFree(op)) {
      op->erase();
    }
  }
}

/// Gives the tiles their layouts; an error for one without.
LogicalResult Resolver::apply() {
  for (auto [value, layout] : found)
    value.setType(withLayout(value.getType(), layout));
  function.walk(retypeConstant);
  dropSetters(function);
  Value open;
  auto note = [&](Value value) { open = open || !isOpen(layoutOf(value)) ? open : value; };
  function.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), note);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), note);
  });
  return open ? tt::report(open.getLoc(), diag::LayoutOpen, open.getType()) : success();
}

static bool hasOpenTiles(tt::FuncOp function) {
  auto visit = [](Operation *op) {
    const bool hasOpen = llvm::any_of(op->getResults(), [](Value value) { return isOpen(layoutOf(value)); });
    return hasOpen ? WalkResult::interrupt() : WalkResult::advance();
  };
  return function.walk(visit).wasInterrupted();
}

LogicalResult Resolver::run() {
  if (!hasOpenTiles(function))
    return success();
  collectFlow();
  function.walk([&](SetAutoLayoutOp op) { find(op.getSrc(), dyn_cast<LayoutEncoding>(layoutOf(op.getResult()))); });
  findAccesses();
  // A tile whose layout is known says that of open ones that it is computed with.
  function.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (auto layout = dyn_cast_or_null<LayoutEncoding>(layoutOf(value)))
        spread(value, layout);
  });
  while (!pending.empty() && !isConflicting) {
    const Value value = pending.pop_back_val();
    spread(value, found.lookup(value));
  }
  return isConflicting ? failure() : apply();
}

namespace {
struct ResolveLayouts : gluon::impl::ResolveLayoutsBase<ResolveLayouts> {
  using ResolveLayoutsBase::ResolveLayoutsBase;

  void runOnOperation() final {
    for (auto function : getOperation().getOps<tt::FuncOp>()) {
      Resolver resolver(function);
      if (failed(resolver.run()))
        return signalPassFailure();
      numFound += resolver.numFound();
    }
  }
};
} // namespace
