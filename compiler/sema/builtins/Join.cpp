// Built-ins join, split and cat.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Shape.h"

namespace nereid::sema {
namespace {

/// Both operands in one shape and one element type; false after an error.
bool matchOperands(const CallSite &site, Value &a, Value &b) {
  if (a.isPoison() || b.isPoison())
    return false;
  if (a.tensor()->type.element() == b.tensor()->type.element())
    return site.emitter.broadcastTogether(a, b, site.range);
  site.emitter.error(diag::JoinTypes, site.range, site.builtin.name, a.tensor()->type.str(), b.tensor()->type.str());
  return false;
}

/// Joins two tiles of one type in a new last dimension.
Value join(const CallSite &site, const Value &a, const Value &b) {
  const Type &type = a.tensor()->type;
  const tt::Shape shape = tt::joinedShape(type.shape);
  return checkTileShape(site.emitter, shape, site.range) ? emitOp<tt::JoinOp>(site, type.withShape(shape), a, b)
                                                         : Value::poison();
}

Value emitJoin(const CallSite &site) {
  Value a = tensorArgument(site, "a"), b = tensorArgument(site, "b");
  if (!matchOperands(site, a, b))
    return Value::poison();
  if (a.tensor()->type.isTile())
    return join(site, a, b);
  a = expandDims(site.emitter, a, 0, site.range);
  b = expandDims(site.emitter, b, 0, site.range);
  return reshapeTile(site, join(site, a, b), 2);
}

Value emitSplit(const CallSite &site) {
  Value x = tensorArgument(site, "a");
  if (x.isPoison())
    return x;
  const Type type = x.tensor()->type;
  if (failed(tt::splitShape(type.shape, reporterOf(site, {type}))))
    return Value::poison();
  if (type.shape.size() == 1)
    x = reshapeTile(site, x, {1, 2});
  Type part = x.tensor()->type;
  part.shape.pop_back();
  mlir::Type irType = part.toMlir(builderOf(site).getContext());
  auto split = tt::SplitOp::create(builderOf(site), locationOf(site), irType, irType, x.tensor()->value);
  if (site.emitter.module.isGluon && !site.emitter.settleLayouts(split, site.range))
    return Value::poison();
  std::vector<Value> halves;
  for (mlir::Value half : split->getResults()) {
    Value value = Value::tensor(half, part);
    halves.push_back(type.shape.size() == 1 ? emitOp<tt::UnsplatOp>(site, type.element(), value) : value);
  }
  return Value::tuple(std::move(halves));
}

//--- cat -----------------------------------------------------------------------------------

/// Concatenates along `dim`: the new dimension of a join, moved before `dim` and merged with it.
Value catInOrder(const CallSite &site, const Value &a, const Value &b, int64_t dim) {
  const Type type = a.tensor()->type;
  const int64_t rank = type.shape.size();
  Value joined = join(site, a, b);
  if (joined.isPoison())
    return joined;
  llvm::SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
  order.insert(order.begin() + dim, rank);
  llvm::SmallVector<int64_t> shape(llvm::ArrayRef<int64_t>(type.shape));
  shape[dim] *= 2;
  return reshapeTile(site, permuteTile(site, joined, order, site.range), shape);
}

Value emitCat(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  Value a = tensorArgument(site, "input"), b = tensorArgument(site, "other");
  auto canReorder = boolArgument(site, "can_reorder");
  auto dim = intArgument(site, "dim");
  if (a.isPoison() || b.isPoison() || !canReorder || !dim)
    return Value::poison();
  const Type type = a.tensor()->type, other = b.tensor()->type;
  if (type.element() != other.element())
    return emitter.error(diag::JoinTypes, site.range, site.builtin.name, type.str(), other.str());
  if (type.shape != other.shape || !type.isTile() || (*canReorder && type.shape.size() != 1))
    return emitter.error(diag::CatShapes, site.range, *canReorder ? " and one dimension with `can_reorder`" : "",
                         type.str(), other.str());
  dim = checkAxis(emitter, *dim, type.shape.size(), site.rangeOf("dim"));
  if (!dim)
    return Value::poison();
  if (!*canReorder)
    return catInOrder(site, a, b, *dim);
  const int64_t count = 2 * type.shape[0];
  if (!checkTileShape(emitter, count, site.range))
    return Value::poison();
  return emitOp<tt::CatOp>(site, type.withShape(count), a, b);
}

} // namespace

llvm::ArrayRef<Builtin> joinBuiltins() {
  static const Builtin table[] = {
      {"join",
       languageModule,
       {{"a"}, {"b"}},
       "Both tensors side by side in a new last dimension of extent 2.",
       emitJoin},
      {"split",
       languageModule,
       {{"a"}},
       "The two halves of a tile along its last dimension, which has extent 2.",
       emitSplit,
       true},
      {"cat",
       languageModule,
       {{"input"}, {"other"}, {"can_reorder", "False"}, {"dim", "0"}},
       "One tile after the other along a dimension; with can_reorder in any order.",
       emitCat},
  };
  return table;
}

} // namespace nereid::sema
