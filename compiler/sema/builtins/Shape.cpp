// Built-ins that rearrange tiles: broadcast, expand_dims, reshape, permute and others.
// SPDX-License-Identifier: MIT
#include "compiler/sema/builtins/Shape.h"

#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"

#include "llvm/ADT/StringExtras.h"

namespace nereid::sema {
namespace {

Value emitBroadcast(const CallSite &site) {
  Value x = tensorArgument(site, "input"), y = tensorArgument(site, "other");
  if (!site.emitter.broadcastTogether(x, y, site.range))
    return Value::poison();
  return Value::tuple({x, y});
}

Value emitBroadcastTo(const CallSite &site) {
  Value x = tensorArgument(site, "input");
  auto shape = intsArgument(site, "shape");
  if (x.isPoison() || !shape)
    return Value::poison();
  return site.emitter.broadcastTo(x, *shape, site.range);
}

/// The axes of the result, counted from the front and in order; nothing after an error.
std::optional<llvm::SmallVector<int64_t>> newAxes(const CallSite &site, int64_t rank) {
  const SourceRange range = site.rangeOf("axis");
  auto axes = intsArgument(site, "axis");
  if (!axes)
    return std::nullopt;
  const int64_t resultRank = rank + int64_t(axes->size());
  for (int64_t &axis : *axes) {
    std::optional<int64_t> position = checkAxis(site.emitter, axis, resultRank, range);
    if (!position)
      return std::nullopt;
    axis = *position;
  }
  llvm::SmallVector<int64_t> normalised = *axes;
  llvm::sort(*axes);
  if (std::adjacent_find(axes->begin(), axes->end()) != axes->end()) {
    site.emitter.error(
        diag::DuplicateAxis, range,
        llvm::join(llvm::map_range(normalised, [](int64_t axis) { return std::to_string(axis); }), ", "));
    return std::nullopt;
  }
  return axes;
}

Value emitExpandDims(const CallSite &site) {
  Value x = tensorArgument(site, "input");
  if (x.isPoison())
    return x;
  auto axes = newAxes(site, x.tensor()->type.shape.size());
  if (!axes)
    return Value::poison();
  for (int64_t axis : *axes)
    x = expandDims(site.emitter, x, axis, site.range);
  return x;
}

//--- reshape -------------------------------------------------------------------------------

} // namespace

Value reshapeTile(const CallSite &site, const Value &x, llvm::ArrayRef<int64_t> shape, bool canReorder) {
  if (x.isPoison() || !checkTileShape(site.emitter, shape, site.range))
    return Value::poison();
  const Type from = x.tensor()->type, to = from.withShape(shape);
  if (failed(tt::checkReshape(from.shape, shape, reporterOf(site))))
    return Value::poison();
  if (!from.isTile())
    return site.emitter.broadcastTo(x, shape, site.range);
  if (!to.isTile())
    return emitOp<tt::UnsplatOp>(site, to, x);
  return emitOp<tt::ReshapeOp>(site, to, x, canReorder, /*efficient_layout=*/false);
}

namespace {

Value emitReshape(const CallSite &site) {
  Value x = tensorArgument(site, "input");
  auto shape = intsArgument(site, "shape");
  auto canReorder = boolArgument(site, "can_reorder");
  return shape && canReorder ? reshapeTile(site, x, *shape, *canReorder) : Value::poison();
}

Value emitView(const CallSite &site) {
  Value x = tensorArgument(site, "input");
  auto shape = intsArgument(site, "shape");
  return shape ? reshapeTile(site, x, *shape, /*canReorder=*/true) : Value::poison();
}

Value emitRavel(const CallSite &site) {
  Value x = tensorArgument(site, "x");
  auto canReorder = boolArgument(site, "can_reorder");
  if (x.isPoison() || !canReorder)
    return Value::poison();
  return reshapeTile(site, x, x.tensor()->type.elementCount(), *canReorder);
}

Value emitItem(const CallSite &site) {
  Value x = tensorArgument(site, "input");
  if (x.isPoison() || !x.tensor()->type.isTile())
    return x;
  const Type type = x.tensor()->type;
  if (type.elementCount() != 1)
    return site.emitter.error(diag::NotOneElement, site.range, site.builtin.name, type.str(), type.elementCount());
  return emitOp<tt::UnsplatOp>(site, type.element(), x);
}

//--- permute -------------------------------------------------------------------------------

} // namespace

Value permuteTile(const CallSite &site, const Value &x, llvm::ArrayRef<int64_t> dims, SourceRange range) {
  const Type from = x.tensor()->type;
  const int64_t rank = from.shape.size();
  llvm::SmallVector<int32_t> order;
  for (int64_t dim : dims)
    order.push_back(-rank <= dim && dim < 0 ? dim + rank : dim);
  auto shape = tt::permutedShape(from.shape, order, CallReporter(site.emitter, range, {from}));
  if (failed(shape))
    return Value::poison();
  return rank == 0 ? x : emitOp<tt::TransOp>(site, from.withShape(*shape), x, order);
}

namespace {

Value emitPermute(const CallSite &site) {
  Value x = tensorArgument(site, "input");
  auto dims = intsArgument(site, "dims");
  return x.isPoison() || !dims ? Value::poison() : permuteTile(site, x, *dims, site.rangeOf("dims"));
}

Value emitTrans(const CallSite &site) {
  Value x = tensorArgument(site, "input");
  auto dims = intsArgument(site, "dims");
  if (x.isPoison() || !dims)
    return Value::poison();
  const int64_t rank = x.tensor()->type.shape.size();
  if (!dims->empty())
    return permuteTile(site, x, *dims, site.rangeOf("dims"));
  if (rank < 2)
    return site.emitter.error(diag::TransRank, site.range, x.tensor()->type.str());
  for (int64_t dim = 0; dim < rank; ++dim)
    dims->push_back(dim);
  std::swap((*dims)[rank - 1], (*dims)[rank - 2]);
  return permuteTile(site, x, *dims, site.rangeOf("dims"));
}

} // namespace

llvm::ArrayRef<Builtin> shapeBuiltins() {
  static const Builtin table[] = {
      {"broadcast", languageModule, {{"input"}, {"other"}}, "Both tensors in their common shape.", emitBroadcast},
      {"broadcast_to",
       languageModule,
       {{"input"}, {"*shape"}},
       "The tensor repeated into a shape.",
       emitBroadcastTo,
       true},
      {"expand_dims",
       languageModule,
       {{"input"}, {"axis"}},
       "The tensor with new dimensions of extent 1.",
       emitExpandDims,
       true},
      {"reshape",
       languageModule,
       {{"input"}, {"*shape"}, {"can_reorder", "False"}},
       "The same elements under another shape.",
       emitReshape,
       true},
      {"view",
       languageModule,
       {{"input"}, {"*shape"}},
       "Old form of reshape that may reorder elements.",
       emitView,
       true},
      {"ravel", languageModule, {{"x"}, {"can_reorder", "False"}}, "The elements in one dimension.", emitRavel, true},
      {"permute",
       languageModule,
       {{"input"}, {"*dims"}},
       "The tensor with its dimensions in another order.",
       emitPermute,
       true},
      {"trans",
       languageModule,
       {{"input"}, {"*dims"}},
       "The tensor with its last two dimensions swapped, or permuted.",
       emitTrans,
       true},
      {"item", tensorModule, {{"input"}}, "The one element of this tile as a scalar.", emitItem, true},
  };
  return table;
}

} // namespace nereid::sema
