// Built-ins that create tensors and change their element type: arange, full, cast, to_tensor.
// SPDX-License-Identifier: MIT
#include "compiler/sema/builtins/Creation.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

namespace nereid::sema {

static bool fitsInt32(int64_t number) {
  return std::numeric_limits<int32_t>::min() <= number && number <= std::numeric_limits<int32_t>::max();
}

std::optional<int64_t> checkedRange(const CallSite &site) {
  std::optional<int64_t> start = intArgument(site, "start");
  std::optional<int64_t> end = intArgument(site, "end");
  if (!start || !end)
    return std::nullopt;
  if (!fitsInt32(*start) || !fitsInt32(*end)) {
    site.emitter.error(diag::ArangeInt32, site.range, *start, *end);
    return std::nullopt;
  }
  if (failed(tt::checkRange(*start, *end, reporterOf(site))))
    return std::nullopt;
  const int64_t count = *end - *start;
  if (!allowsAnyExtent(site.emitter) && !llvm::isPowerOf2_64(count)) {
    site.emitter.error(diag::ArangePowerOfTwo, site.range, *start, *end, count, llvm::PowerOf2Ceil(count));
    return std::nullopt;
  }
  return checkTileShape(site.emitter, count, site.range) ? std::optional(count) : std::nullopt;
}

static Value emitArange(const CallSite &site) {
  const std::optional<int64_t> count = checkedRange(site);
  if (!count)
    return Value::poison();
  const int64_t start = *site["start"].asInt64();
  return emitOp<tt::MakeRangeOp>(site, Type(Scalar::Int32).withShape(*count), static_cast<int32_t>(start),
                                 static_cast<int32_t>(start + *count));
}

Value scalarOf(const CallSite &site, const Value &value, const Type &type, SourceRange range) {
  TtFunctionEmitter &emitter = site.emitter;
  if (!value.tensor() && !type.isPointer)
    return emitter.constantOf(value, type.scalar, range);
  Value scalar = emitter.toTensor(value, range);
  if (scalar.isPoison())
    return scalar;
  const Type from = scalar.tensor()->type;
  if (from.elementCount() != 1)
    return emitter.error(diag::NotOneElement, range, site.builtin.name, from.str(), from.elementCount());
  if (from.isTile())
    scalar = emitOp<tt::UnsplatOp>(site, from.element(), scalar);
  return emitter.cast(scalar, type, range);
}

static Value emitFull(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  auto shape = intsArgument(site, "shape");
  std::optional<Type> type = typeArgument(site, "dtype");
  if (!shape || !type || !checkTileShape(emitter, *shape, site.rangeOf("shape")))
    return Value::poison();
  Value scalar = scalarOf(site, site["value"], type->element(), site.rangeOf("value"));
  return scalar.isPoison() ? scalar : emitter.broadcastTo(scalar, *shape, site.range);
}

static Value emitCast(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  std::optional<Type> type = typeArgument(site, "dtype");
  std::optional<bool> keepsBits = boolArgument(site, "bitcast");
  if (!type || !keepsBits)
    return Value::poison();
  if (*keepsBits)
    return emitter.bitcast(site["input"], *type, site.range);
  std::optional<std::string> rounding = textOption(site, "fp_downcast_rounding");
  return rounding ? emitter.cast(site["input"], *type, site.range, *rounding) : Value::poison();
}

static Value emitToTensor(const CallSite &site) { return tensorArgument(site, "x"); }

/// A Triton class that a kernel may name (`isinstance(x, tl.tensor)`) but not call.
static Value emitClassCall(const CallSite &site) {
  return site.emitter.error(diag::ClassCall, site.range, site.builtin.name);
}

/// `tl.dtype("fp16")`.
static Value emitDtype(const CallSite &site) {
  std::optional<std::string> name = textArgument(site, "name");
  if (!name)
    return Value::poison();
  const std::optional<Scalar> byName = scalarFromName(*name);
  if (std::optional<Scalar> scalar = byName ? byName : artifact::elementOfSignature(*name))
    return TypeValue{Type(*scalar)};
  return site.emitter.error(diag::CannotConvert, site.rangeOf("name"), describe(site["name"]), "dtype");
}

static Value emitPointerType(const CallSite &site) {
  std::optional<Type> element = typeArgument(site, "element_ty");
  std::optional<bool> isConst = boolArgument(site, "const");
  if (!element || !isConst)
    return Value::poison();
  if (element->isPointer || element->isTile())
    return site.emitter.error(diag::PointerTo, site.rangeOf("element_ty"), element->str());
  return TypeValue{Type::pointerTo(element->scalar, *isConst)};
}

llvm::ArrayRef<Builtin> creationBuiltins() {
  static const Builtin table[] = {
      {"arange", languageModule, {{"start"}, {"end"}}, "The int32 values from start up to end.", emitArange},
      {"full", languageModule, {{"shape"}, {"value"}, {"dtype"}}, "A tile of one value.", emitFull},
      {"cast",
       languageModule,
       {{"input"}, {"dtype"}, {"fp_downcast_rounding", "None"}, {"bitcast", "False"}},
       "The input as another element type, by value or bit for bit.",
       emitCast,
       true},
      {"to",
       tensorModule,
       {{"input"}, {"dtype"}, {"fp_downcast_rounding", "None"}, {"bitcast", "False"}},
       "This tensor as another element type, by value or bit for bit.",
       emitCast,
       true},
      {"to_tensor", languageModule, {{"x"}}, "A number as a scalar tensor.", emitToTensor},
      {"tensor", languageModule, {{"value"}}, "The class of all values that exist when a kernel runs.", emitClassCall},
      {"tensor_descriptor", languageModule, {{"handle"}}, "The class of tensor descriptors.", emitClassCall},
      {"dtype", languageModule, {{"name"}}, "The element type of that name: \"fp16\", \"int32\".", emitDtype},
      {"pointer_type",
       languageModule,
       {{"element_ty"}, {"address_space", "1"}, {"const", "False"}},
       "The type of pointers to elements of one type.",
       emitPointerType},
  };
  return table;
}

} // namespace nereid::sema
