// Built-ins that read, add or count elements at computed indices: gather, scatter_add, histogram.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Emission.h"
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
  auto axis = emitter.constantInt(site["axis"], site.rangeOf("axis"), "axis");
  if (source.isPoison() || index.isPoison() || !axis)
    return Value::poison();
  const Type from = source.tensor()->type, at = index.tensor()->type;
  if (!at.isInt())
    return emitter.error(diag::GatherIndex, site.rangeOf("index"), at.str());
  if (!from.isTile())
    return emitter.error(diag::GatherSource, site.rangeOf("src"), from.str());
  const int64_t rank = from.shape.size();
  if (rank != int64_t(at.shape.size()))
    return emitter.error(diag::GatherRank, site.range, from.str(), at.str());
  axis = checkAxis(emitter, *axis, rank, site.rangeOf("axis"));
  if (!axis)
    return Value::poison();
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != *axis && from.shape[dim] != at.shape[dim])
      return emitter.error(diag::GatherShape, site.range, shapeText(at.shape), shapeText(from.shape), dim);
  index = withSign(site, index, site.rangeOf("index"));
  const Type type = from.withShape(at.shape);
  return Value::tensor(tt::GatherOp::create(builderOf(site), locationOf(site),
                                            type.toMlir(builderOf(site).getContext()), source.tensor()->value,
                                            index.tensor()->value, static_cast<uint32_t>(*axis),
                                            /*efficient_layout=*/false),
                       type);
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
  auto size = emitter.constantInt(site["size"], site.rangeOf("size"), "size");
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
  const Type type = Type(sums).withShape(*size);
  Value result = Value::tensor(tt::ScatterAddOp::create(builderOf(site), locationOf(site),
                                                        type.toMlir(builderOf(site).getContext()),
                                                        source.tensor()->value, index.tensor()->value, mask),
                               type);
  return isFloating(given.scalar) ? emitter.cast(result, given.scalar, site.range) : result;
}

Value emitHistogram(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  Value x = tensorArgument(site, "input");
  auto bins = emitter.constantInt(site["num_bins"], site.rangeOf("num_bins"), "num_bins");
  if (x.isPoison() || !bins || !checkTileShape(emitter, *bins, site.rangeOf("num_bins")))
    return Value::poison();
  const Type from = x.tensor()->type;
  if (from.shape.size() != 1)
    return emitter.error(diag::HistogramRank, site.rangeOf("input"), from.str());
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
  const Type type = Type(Scalar::Int32).withShape(*bins);
  return Value::tensor(tt::HistogramOp::create(builderOf(site), locationOf(site),
                                               type.toMlir(builderOf(site).getContext()), x.tensor()->value, mask),
                       type);
}

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
