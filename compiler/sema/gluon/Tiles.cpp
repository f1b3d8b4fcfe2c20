// Built-ins of Gluon's language on tiles in registers: those that differ from Triton's by a layout.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/gluon/Dialect.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Creation.h"
#include "compiler/sema/gluon/Arguments.h"

namespace nereid::sema {

bool checkLanguage(const CallSite &site) {
  if (site.emitter.module.isGluon)
    return true;
  site.emitter.error(diag::GluonOnly, site.range, site.builtin.name);
  return false;
}

std::optional<TensorValue> tileOf(const CallSite &site, llvm::StringRef parameter) {
  const Value value = checkLanguage(site) ? tensorArgument(site, parameter) : Value::poison();
  if (value.isPoison())
    return std::nullopt;
  if (value.tensor()->type.isTile())
    return *value.tensor();
  site.emitter.error(diag::TileExpected, site.rangeOf(parameter), site.builtin.name, value.tensor()->type.str());
  return std::nullopt;
}

namespace {

Value emitArange(const CallSite &site) {
  const std::optional<int64_t> count = checkLanguage(site) ? checkedRange(site) : std::nullopt;
  const mlir::Attribute layout = count ? tileLayoutArgument(site, "layout", *count) : mlir::Attribute();
  if (!layout)
    return Value::poison();
  const int64_t start = *site["start"].asInt64();
  return emitOp<tt::MakeRangeOp>(site, Type(Scalar::Int32).withShape(*count).withLayout(layout), int32_t(start),
                                 int32_t(start + *count));
}

/// A tile of one value, in `layout` or else in that of the call.
Value filled(const CallSite &site, llvm::ArrayRef<int64_t> shape, const Type &type, const Value &value,
             SourceRange range, mlir::Attribute layout = {}) {
  TtFunctionEmitter &emitter = site.emitter;
  if (!checkTileShape(emitter, shape, site.rangeOf("shape")))
    return Value::poison();
  if (!layout)
    layout = tileLayoutArgument(site, "layout", shape);
  if (!layout)
    return Value::poison();
  Value scalar = scalarOf(site, value, type.element(), range);
  return scalar.isPoison() ? scalar : emitter.broadcastTo(scalar, shape, site.range, layout);
}

Value emitFull(const CallSite &site) {
  auto shape = checkLanguage(site) ? intsArgument(site, "shape") : std::nullopt;
  std::optional<Type> type = shape ? typeArgument(site, "dtype") : std::nullopt;
  return type ? filled(site, *shape, *type, site["value"], site.rangeOf("value")) : Value::poison();
}

Value emitZeros(const CallSite &site) {
  auto shape = checkLanguage(site) ? intsArgument(site, "shape") : std::nullopt;
  std::optional<Type> type = shape ? typeArgument(site, "dtype") : std::nullopt;
  return type ? filled(site, *shape, *type, Value::integer(0), site.range) : Value::poison();
}

/// The tile `input` in its shape, element type and layout, or in those that the call gives.
Value filledLike(const CallSite &site, const Value &value, SourceRange range) {
  const Value input = checkLanguage(site) ? tensorArgument(site, "input") : Value::poison();
  if (input.isPoison())
    return input;
  Type type = input.tensor()->type;
  llvm::SmallVector<int64_t> shape(type.shape.begin(), type.shape.end());
  if (!site["shape"].isNone()) {
    auto given = intsArgument(site, "shape");
    if (!given)
      return Value::poison();
    shape = *given;
  }
  std::optional<Type> element = site["dtype"].isNone() ? type.element() : typeArgument(site, "dtype");
  if (!element)
    return Value::poison();
  const bool keepsLayout = site["layout"].isNone() && type.isTile();
  return filled(site, shape, *element, value, range, keepsLayout ? type.layout : mlir::Attribute());
}

Value emitFullLike(const CallSite &site) { return filledLike(site, site["value"], site.rangeOf("value")); }
Value emitZerosLike(const CallSite &site) { return filledLike(site, Value::integer(0), site.range); }

Value emitConvertLayout(const CallSite &site) {
  std::optional<TensorValue> tile = tileOf(site, "value");
  auto isTrivial = boolArgument(site, "assert_trivial");
  const mlir::Attribute layout =
      tile && isTrivial ? tileLayoutArgument(site, "layout", tile->type.shape) : mlir::Attribute();
  if (!layout)
    return Value::poison();
  auto from = llvm::dyn_cast<ttg::LayoutEncoding>(tile->type.layout), to = llvm::dyn_cast<ttg::LayoutEncoding>(layout);
  if (*isTrivial && (!from || !to || !ttg::areEquivalent(from, to, tile->type.shape)))
    return site.emitter.error(diag::ConversionNotTrivial, site.range, layoutText(tile->type.layout),
                              layoutText(layout));
  const Type type = tile->type.withLayout(layout);
  return Value::tensor(ttg::ConvertLayoutOp::create(builderOf(site), locationOf(site),
                                                    type.toMlir(builderOf(site).getContext()), tile->value),
                       type);
}

Value emitSetAutoLayout(const CallSite &site) {
  std::optional<TensorValue> tile = tileOf(site, "value");
  const mlir::Attribute layout = tile ? tileLayoutArgument(site, "layout", tile->type.shape) : mlir::Attribute();
  if (!layout)
    return Value::poison();
  if (!gluon::isOpen(tile->type.layout))
    return site.emitter.error(diag::LayoutIsKnown, site.range, layoutText(tile->type.layout), layoutText(layout));
  const Type type = tile->type.withLayout(layout);
  return Value::tensor(gluon::SetAutoLayoutOp::create(builderOf(site), locationOf(site),
                                                      type.toMlir(builderOf(site).getContext()), tile->value),
                       type);
}

/// The layout as bases.
Value emitToLinearLayout(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  const SourceRange range = site.rangeOf("layout");
  auto shape = intsArgument(site, "shape");
  if (!shape || site["layout"].isPoison() || !checkTileShape(emitter, *shape, site.rangeOf("shape")))
    return Value::poison();
  if (!layoutClassOf(site["layout"]))
    return emitter.error(diag::LayoutArgument, range, "layout", shown(emitter, site["layout"]));
  auto error = [&](std::string message) { emitter.error(diag::LayoutInvalid, range, message); };
  const mlir::Attribute given = encodingOf(builderOf(site).getContext(), site["layout"], error);
  auto encoding = llvm::dyn_cast_or_null<ttg::LayoutEncoding>(given);
  if (!encoding || llvm::isa<ttg::LinearAttr, ttg::SharedLinearAttr>(given))
    return given ? site["layout"] : Value::poison();
  if (encoding.getRank() != shape->size())
    return emitter.error(diag::LayoutUnfit, range, layoutText(given), shapeText(*shape),
                         "the layout has " + std::to_string(encoding.getRank()) + " dimensions");
  const layout::LinearLayout linear = encoding.toLinearLayout(*shape);
  if (encoding.isDistributed())
    return layoutValue(ttg::LinearAttr::get(encoding.getContext(), linear));
  return layoutValue(ttg::SharedLinearAttr::get(encoding.getContext(), linear, /*alignment=*/16));
}

/// The constructor of a layout.
Value emitLayout(const CallSite &site) {
  auto error = [&](std::string message) { site.emitter.error(diag::LayoutInvalid, site.range, message); };
  if (llvm::any_of(site.args, [](const Value &arg) { return arg.isPoison(); }))
    return Value::poison();
  return makeLayout(builderOf(site).getContext(), *findLayoutClass(site.builtin.name), site.args.vec(), error);
}

} // namespace

llvm::ArrayRef<Builtin> gluonLayoutBuiltins() {
  static const std::vector<Builtin> table = [] {
    std::vector<Builtin> entries;
    for (const LayoutClass *each : layoutClasses())
      entries.push_back({each->record.name,
                         each->module.empty() ? llvm::StringRef(gluonModule) : each->module,
                         {each->params.begin(), each->params.end()},
                         each->doc,
                         emitLayout});
    return entries;
  }();
  return table;
}

llvm::ArrayRef<Builtin> gluonTileBuiltins() {
  static const Builtin table[] = {
      {"arange",
       gluonModule,
       {{"start"}, {"end"}, {"layout", "None"}},
       "The int32 values from start up to end, in a layout.",
       emitArange},
      {"full",
       gluonModule,
       {{"shape"}, {"value"}, {"dtype"}, {"layout", "None"}},
       "A tile of one value, in a layout.",
       emitFull},
      {"zeros", gluonModule, {{"shape"}, {"dtype"}, {"layout", "None"}}, "A tile of zeros, in a layout.", emitZeros},
      {"full_like",
       gluonModule,
       {{"input"}, {"value"}, {"shape", "None"}, {"dtype", "None"}, {"layout", "None"}},
       "A tile of one value in the shape, element type and layout of another, or in those given.",
       emitFullLike},
      {"zeros_like",
       gluonModule,
       {{"input"}, {"shape", "None"}, {"dtype", "None"}, {"layout", "None"}},
       "A tile of zeros in the shape, element type and layout of another, or in those given.",
       emitZerosLike},
      {"convert_layout",
       gluonModule,
       {{"value"}, {"layout"}, {"assert_trivial", "False"}},
       "The same tile in another layout; with assert_trivial an error where elements would move.",
       emitConvertLayout},
      {"to_linear_layout",
       gluonModule,
       {{"layout"}, {"shape"}},
       "The layout of a tile or buffer of that shape as bases: a DistributedLinearLayout or a SharedLinearLayout.",
       emitToLinearLayout},
      {"set_auto_layout",
       gluonModule,
       {{"value"}, {"layout"}},
       "Gives a tile of the layout AutoLayout another one.",
       emitSetAutoLayout},
  };
  return table;
}

} // namespace nereid::sema
