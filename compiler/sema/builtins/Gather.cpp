// Built-ins that read, add or count elements at computed indices: gather, scatter_add, histogram.
// SPDX-License-Identifier: MIT
#include "compiler/sema/builtins/Gather.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Shape.h"

namespace nereid::sema {
namespace {

/// Widens a narrow unsigned integer so that its sign bit is free, since the IR has no signedness.
Value withSign(const CallSite &site, const Value &x, SourceRange range) {
  const Type &type = x.tensor()->type;
  if (!isUnsignedInteger(type.scalar) || type.bits() >= 32)
    return x;
  return site.emitter.cast(x, Scalar::Int32, range);
}

Value emitGather(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  Value source = tensorArgument(site, "src"), index = tensorArgument(site, "index");
  auto axis = intArgument(site, "axis");
  if (source.isPoison() || index.isPoison() || !axis)
    return Value::poison();
  const Type from = source.tensor()->type, at = index.tensor()->type;
  if (!at.isInt())
    return emitter.error(diag::GatherIndex, site.rangeOf("index"), at.str());
  if (!from.isTile())
    return emitter.error(diag::GatherSource, site.rangeOf("src"), from.str());
  axis = checkAxis(emitter, *axis, from.shape.size(), site.rangeOf("axis"));
  auto shape =
      axis ? tt::gatherShape(from.shape, at.shape, *axis, reporterOf(site, {from, at})) : llvm::FailureOr<tt::Shape>();
  if (failed(shape))
    return Value::poison();
  index = withSign(site, index, site.rangeOf("index"));
  return emitOp<tt::GatherOp>(site, from.withShape(*shape), source, index, static_cast<uint32_t>(*axis),
                              /*efficient_layout=*/false);
}

/// The type in which elements are added: floats in 32 bits at least, integers, as in `tl.sum`, likewise.
Scalar typeOfSums(Scalar scalar) {
  const unsigned bits = Type(scalar).bits();
  if (isFloating(scalar))
    return bits < 32 ? Scalar::Float32 : scalar;
  return bits < 32 ? Scalar::Int32 : scalar;
}

Value emitScatterAdd(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  Value source = tensorArgument(site, "src"), index = tensorArgument(site, "index");
  auto size = intArgument(site, "size");
  if (source.isPoison() || index.isPoison() || !size || !checkTileShape(emitter, *size, site.rangeOf("size")))
    return Value::poison();
  if (!index.tensor()->type.isInt())
    return emitter.error(diag::GatherIndex, site.rangeOf("index"), index.tensor()->type.str());
  index = withSign(site, index, site.rangeOf("index"));
  if (!emitter.broadcastTogether(source, index, site.range))
    return Value::poison();
  const Type given = source.tensor()->type;
  const int64_t count = given.elementCount();
  const Scalar sums = typeOfSums(given.scalar);
  source = reshapeTile(site, emitter.cast(source, sums, site.rangeOf("src")), count);
  mlir::Value mask;
  if (!site["mask"].isNone()) {
    Value chosen = emitter.cast(tensorArgument(site, "mask"), Scalar::Int1, site.rangeOf("mask"));
    chosen = emitter.broadcastTo(chosen, given.shape, site.rangeOf("mask"));
    chosen = reshapeTile(site, chosen, count);
    if (chosen.isPoison())
      return chosen;
    mask = chosen.tensor()->value;
  }
  index = reshapeTile(site, index, count);
  if (source.isPoison() || index.isPoison())
    return Value::poison();
  const Value result = emitOp<tt::ScatterAddOp>(site, Type(sums).withShape(*size), source, index, mask);
  return isFloating(given.scalar) ? emitter.cast(result, given.scalar, site.range) : result;
}

} // namespace

Value histogram(const CallSite &site, mlir::Attribute layout) {
  TtFunctionEmitter &emitter = site.emitter;
  Value x = tensorArgument(site, "input");
  auto bins = intArgument(site, "num_bins");
  if (x.isPoison() || !bins || !checkTileShape(emitter, *bins, site.rangeOf("num_bins")))
    return Value::poison();
  const Type from = x.tensor()->type;
  if (failed(tt::checkHistogram(from.shape, CallReporter(emitter, site.rangeOf("input"), {from}))))
    return Value::poison();
  if (!from.isInt())
    return emitter.error(diag::HistogramType, site.rangeOf("input"), from.str());
  mlir::Value mask;
  if (!site["mask"].isNone()) {
    const SourceRange range = site.rangeOf("mask");
    Value given = tensorArgument(site, "mask");
    if (given.isPoison())
      return given;
    const Type &type = given.tensor()->type;
    if (!type.isBool())
      return emitter.error(diag::MaskNotBool, range, type.str());
    if (type.isTile() && type.shape != from.shape)
      return emitter.error(diag::HistogramMask, range, shapeText(from.shape), type.str());
    given = emitter.broadcastTo(given, from.shape, range);
    if (given.isPoison())
      return given;
    mask = given.tensor()->value;
  }
  x = withSign(site, x, site.rangeOf("input"));
  return emitOp<tt::HistogramOp>(site, Type(Scalar::Int32).withShape(*bins).withLayout(layout), x, mask);
}

namespace {

Value emitHistogram(const CallSite &site) { return histogram(site, {}); }

} // namespace

llvm::ArrayRef<Builtin> gatherBuiltins() {
  static const Builtin table[] = {
      {"gather",
       languageModule,
       {{"src"}, {"index"}, {"axis"}},
       "Elements of a tile at indices along an axis; an index counts from the end where it is negative.",
       emitGather,
       true},
      {"scatter_add",
       languageModule,
       {{"src"}, {"index"}, {"size"}, {"mask", "None"}},
       "Sums of elements by index: element k of the result adds those whose index is k; others, and those that the "
       "mask "
       "leaves out, are not added. Floats are added in any order, in 32 bits at least.",
       emitScatterAdd,
       true},
      {"histogram",
       languageModule,
       {{"input"}, {"num_bins"}, {"mask", "None"}},
       "How many elements are 0, 1, 2 ...; others, and those that the mask leaves out, do not count.",
       emitHistogram,
       true},
  };
  return table;
}

} // namespace nereid::sema
