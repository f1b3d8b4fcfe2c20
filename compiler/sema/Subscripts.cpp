// Subscripts: elements of tuples, elements and slices of tiles, items of host objects.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/TtFunctionEmitter.h"

#include <algorithm>
#include <array>

using namespace nereid;
using namespace nereid::sema;

Value TtFunctionEmitter::evaluateSubscript(const syntax::Subscript *expression) {
  const Value object = evaluate(expression->value), index = evaluate(expression->index);
  if (object.isPoison() || index.isPoison())
    return Value::poison();
  const Value element = item(object, index, expression->range);
  const bool isEmpty = object.elements() && object.elements()->empty();
  auto *attribute = llvm::dyn_cast<syntax::Attribute>(expression->value);
  if (element.isPoison() && isEmpty && lastDiagnostic && attribute && attribute->name == "shape")
    lastDiagnostic->note("scalars and pointers have no dimensions; pass the extent of the array as an argument",
                         fileRange(attribute->range));
  return element;
}

namespace {
/// The elements of one dimension that a subscript selects.
struct Pick {
  int64_t start = 0, count = 0, step = 1;
  bool isInteger = false; ///< the dimension is removed

  bool isWhole(int64_t extent) const { return !isInteger && start == 0 && step == 1 && count == extent; }
};
} // namespace

static bool isWholeSlice(const Value &part) {
  const SliceValue *slice = part.get<SliceValue>();
  return slice && llvm::all_of(*slice->parts, [](const Value &bound) { return bound.isNone(); });
}

/// start, stop and step of a slice of `count` elements, as in Python; nothing where a part is no constant integer.
static std::optional<std::array<int64_t, 3>> sliceBounds(const SliceValue &slice, int64_t count, Value &badBound) {
  std::array<int64_t, 3> bounds = {0, count, 1};
  for (int i = 2; i >= 0; --i) {
    const Value &bound = (*slice.parts)[i];
    if (bound.isNone()) {
      if (i < 2 && bounds[2] < 0)
        bounds[i] = i == 0 ? count - 1 : -1;
      continue;
    }
    auto number = bound.asInt64();
    if (!number || (i == 2 && *number == 0)) {
      badBound = bound;
      return std::nullopt;
    }
    bounds[i] = *number;
    if (i == 2)
      continue;
    const int64_t low = bounds[2] < 0 ? -1 : 0, high = bounds[2] < 0 ? count - 1 : count;
    bounds[i] = std::clamp(*number < 0 ? *number + count : *number, low, high);
  }
  return bounds;
}

static int64_t sliceCount(const std::array<int64_t, 3> &bounds) {
  const int64_t distance = bounds[2] > 0 ? bounds[1] - bounds[0] : bounds[0] - bounds[1];
  const int64_t step = std::abs(bounds[2]);
  return distance <= 0 ? 0 : (distance + step - 1) / step;
}

/// The hint for an index that NumPy has and tiles do not.
static llvm::StringRef hintForIndex(const Value &index) {
  if (index.is<EllipsisValue>())
    return "; name each dimension with `:`";
  const TensorValue *tensor = index.tensor();
  if (!tensor)
    return "";
  return tensor->type.isBool() ? "; choose elements with `tl.where`, or by the mask of a load or a store"
                               : "; or load that element from memory";
}

/// The selection of `part` in dimension `axis`; nothing after an error.
static std::optional<Pick> pickOf(TtFunctionEmitter &emitter, const Value &part, const Type &type, size_t axis,
                                  SourceRange range) {
  const int64_t extent = type.shape[axis];
  if (auto index = part.asInt64(); index && !part.is<bool>()) {
    if (*index < -extent || *index >= extent) {
      emitter.error(diag::TileIndexRange, range, *index, axis, type.str());
      return std::nullopt;
    }
    return Pick{*index < 0 ? *index + extent : *index, 1, 1, true};
  }
  Value badBound = part;
  const SliceValue *slice = part.get<SliceValue>();
  auto bounds = slice ? sliceBounds(*slice, extent, badBound) : std::nullopt;
  if (!bounds) {
    emitter.error(diag::UnsupportedIndex, range, describe(badBound), hintForIndex(badBound));
    return std::nullopt;
  }
  Pick pick{(*bounds)[0], sliceCount(*bounds), (*bounds)[2]};
  if (pick.count == 0) {
    emitter.error(diag::EmptySlice, range, axis, type.str());
    return std::nullopt;
  }
  return pick;
}

/// The selected elements along `axis`: a gather with constant indices.
static Value pickAlong(TtFunctionEmitter &emitter, const Value &tile, const Pick &pick, int64_t axis,
                       SourceRange range) {
  llvm::SmallVector<int64_t, 4> shape = tile.tensor()->type.shape;
  shape[axis] = pick.count;
  if (!checkTileShape(emitter, shape, range))
    return Value::poison();
  Value index = emitter.emit<tt::MakeRangeOp>(Type(Scalar::Int32).withShape(pick.count), range, 0,
                                              static_cast<int32_t>(pick.count));
  auto combine = [&](syntax::BinaryOperator op, int64_t number) {
    index = emitter.binary(op, index, Value::integer(number), range, range);
  };
  if (pick.step != 1)
    combine(syntax::BinaryOperator::Mult, pick.step);
  if (pick.start != 0)
    combine(syntax::BinaryOperator::Add, pick.start);
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
    if (dim != axis)
      index = expandDims(emitter, index, dim, range);
  index = emitter.broadcastTo(index, shape, range);
  const Builtin *gather = findBuiltin("triton.language", "gather");
  if (!gather)
    return emitter.error(diag::UnsupportedIndex, range, "part of a dimension", "");
  const PositionalArgument args[] = {{tile, range}, {index, range}, {Value::integer(axis), range}};
  return index.isPoison() ? index : emitter.callBuiltin(*gather, args, {}, range);
}

/// The tile without the dimensions that `dropped` marks, all of extent 1.
static Value dropDims(TtFunctionEmitter &emitter, const Value &tile, llvm::ArrayRef<bool> dropped, SourceRange range) {
  const Type &type = tile.tensor()->type;
  llvm::SmallVector<int64_t, 4> shape;
  for (auto [extent, isDropped] : llvm::zip_equal(type.shape, dropped))
    if (!isDropped)
      shape.push_back(extent);
  if (shape.empty())
    return emitter.emit<tt::UnsplatOp>(type.element(), range, tile);
  return emitter.emit<tt::ReshapeOp>(type.withShape(shape), range, tile, /*allow_reorder=*/false,
                                     /*efficient_layout=*/false);
}

/// `x[:, None]`, `x[3]`, `x[::2]`: None inserts a dimension, an integer removes one, a slice selects from one.
Value TtFunctionEmitter::subscriptTile(const Value &tile, const Value &index, SourceRange range) {
  std::vector<Value> parts = index.elements() ? *index.elements() : std::vector<Value>{index};
  const Type type = tile.tensor()->type;
  const auto isNone = [](const Value &part) { return part.isNone(); };
  // Whole slices of missing trailing dimensions are ignored.
  if (!type.isTile())
    llvm::erase_if(parts, isWholeSlice);
  while (parts.size() - llvm::count_if(parts, isNone) > type.shape.size() && isWholeSlice(parts.back()))
    parts.pop_back();
  if (parts.size() - llvm::count_if(parts, isNone) > type.shape.size())
    return error(diag::TooManyIndices, range, type.str(), parts.size(),
                 type.isPointer ? "; read memory with `tl.load`" : "");
  Value result = tile;
  llvm::SmallVector<bool> dropped;
  size_t source = 0;
  int64_t taken = 1;
  for (const Value &part : parts) {
    const int64_t axis = dropped.size();
    dropped.push_back(false);
    if (part.isNone()) {
      result = expandDims(*this, result, axis, range);
      continue;
    }
    std::optional<Pick> pick = pickOf(*this, part, type, source, range);
    if (!pick)
      return Value::poison();
    dropped.back() = pick->isInteger;
    if (!pick->isWhole(type.shape[source]) && (type.shape[source] != 1 || !pick->isInteger))
      result = pickAlong(*this, result, *pick, axis, range);
    if (result.isPoison())
      return result;
    ++source;
  }
  dropped.resize(result.tensor()->type.shape.size(), false);
  taken = result.tensor()->type.elementCount();
  if (taken != type.elementCount() && !artifact::targetInfo(module.target.backend).isHost)
    module.diagnostics.report(diag::IndexCost, module.userFileRange(fileRange(range), function), taken,
                              type.elementCount());
  return llvm::is_contained(dropped, true) ? dropDims(*this, result, dropped, range) : result;
}

Value TtFunctionEmitter::item(const Value &object, const Value &index, SourceRange range) {
  if (object.tensor())
    return subscriptTile(object, index, range);
  if (auto *host = object.get<HostValue>())
    return fromHost(module.host.item(host->object, index), range);
  if (object.object() || object.is<std::string>()) {
    const PositionalArgument args[] = {{index, range}};
    return call(attribute(object, "__getitem__", range), args, {}, range);
  }
  const std::vector<Value> *elements = object.elements();
  if (!elements)
    return error(diag::NotSubscriptable, range, describe(object));
  const int64_t count = elements->size();
  if (auto position = index.asInt64()) {
    if (*position < -count || *position >= count)
      return error(diag::IndexOutOfRange, range, *position, count);
    return (*elements)[*position < 0 ? *position + count : *position];
  }
  const SliceValue *slice = index.get<SliceValue>();
  if (!slice)
    return error(diag::TupleIndex, range, describe(index));
  Value badBound;
  auto bounds = sliceBounds(*slice, count, badBound);
  if (!bounds)
    return error(diag::TupleIndex, range, describe(badBound));
  std::vector<Value> picked;
  for (int64_t i = (*bounds)[0]; (*bounds)[2] > 0 ? i < (*bounds)[1] : i > (*bounds)[1]; i += (*bounds)[2])
    picked.push_back((*elements)[i]);
  return Value::tuple(std::move(picked));
}
