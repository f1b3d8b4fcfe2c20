// Built-ins that read and write memory through pointers: load, store.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Emission.h"

#include "llvm/ADT/StringSwitch.h"

namespace nereid::sema {
namespace {

/// An option given as text; None counts as "".
std::optional<std::string> textOption(const CallSite &site, llvm::StringRef parameter) {
  if (site[parameter].isNone())
    return std::string();
  return site.emitter.constantString(site[parameter], site.rangeOf(parameter), parameter);
}

using CacheNames = std::initializer_list<std::pair<llvm::StringLiteral, tt::CacheModifier>>;

std::optional<tt::CacheModifier> cacheModifier(const CallSite &site, CacheNames names) {
  std::optional<std::string> text = textOption(site, "cache_modifier");
  if (!text)
    return std::nullopt;
  if (text->empty())
    return tt::CacheModifier::NONE;
  std::string allowed;
  for (auto [name, modifier] : names) {
    if (name == *text)
      return modifier;
    allowed += (allowed.empty() ? "`" : ", `") + name.str() + "`";
  }
  site.emitter.error(diag::CacheModifierUnknown, site.rangeOf("cache_modifier"), *text, allowed);
  return std::nullopt;
}

std::optional<tt::EvictionPolicy> evictionPolicy(const CallSite &site) {
  std::optional<std::string> text = textOption(site, "eviction_policy");
  if (!text)
    return std::nullopt;
  auto policy = llvm::StringSwitch<std::optional<tt::EvictionPolicy>>(*text)
                    .Case("", tt::EvictionPolicy::NORMAL)
                    .Case("evict_first", tt::EvictionPolicy::EVICT_FIRST)
                    .Case("evict_last", tt::EvictionPolicy::EVICT_LAST)
                    .Default(std::nullopt);
  if (!policy)
    site.emitter.error(diag::EvictionPolicyUnknown, site.rangeOf("eviction_policy"), *text);
  return policy;
}

bool isEmptySequence(const Value &value) {
  if (const std::string *text = value.get<std::string>())
    return text->empty();
  return value.isNone() || (value.elements() && value.elements()->empty());
}

/// The pointer argument; memory holds a bool as a byte. Poison after an error.
Value pointerArgument(const CallSite &site) {
  const SourceRange range = site.rangeOf("pointer");
  const Value &pointer = site["pointer"];
  const TensorValue *tensor = pointer.tensor();
  if (!tensor || !tensor->type.isPointer)
    return site.emitter.error(diag::NotAPointer, range, tensor ? tensor->type.str() : pointer.kindName(),
                              site.builtin.name);
  for (llvm::StringRef option : {"boundary_check", "padding_option"})
    if (llvm::any_of(site.builtin.params, [&](const BuiltinParam &param) { return param.name == option; }) &&
        !isEmptySequence(site[option]))
      return site.emitter.error(diag::NotABlockPointer, site.rangeOf(option), option, site.builtin.name,
                                tensor->type.str());
  return pointer;
}

/// The mask, where one is given; nothing after an error.
std::optional<Value> maskArgument(const CallSite &site) {
  if (site["mask"].isNone())
    return Value();
  Value mask = tensorArgument(site, "mask");
  if (mask.isPoison())
    return std::nullopt;
  if (mask.tensor()->type.isBool())
    return mask;
  site.emitter.error(diag::MaskNotBool, site.rangeOf("mask"), mask.tensor()->type.str());
  return std::nullopt;
}

/// Reports a tile beside a scalar pointer; true where there is none.
bool checkScalars(const CallSite &site, std::initializer_list<std::pair<llvm::StringLiteral, Value>> operands) {
  for (const auto &[name, operand] : operands) {
    if (!operand.tensor() || !operand.tensor()->type.isTile())
      continue;
    site.emitter.error(diag::TileForScalarPointer, site.rangeOf(name.lower()), name, operand.tensor()->type.str());
    return false;
  }
  return true;
}

mlir::Value irValue(const Value &value) { return value.tensor() ? value.tensor()->value : mlir::Value(); }

/// Broadcasts those of `values` that are given; false after an error.
bool broadcastGiven(const CallSite &site, std::initializer_list<Value *> values) {
  llvm::SmallVector<Value> given;
  for (Value *value : values)
    if (value->tensor())
      given.push_back(*value);
  if (!broadcastAll(site.emitter, given, site.range))
    return false;
  auto next = given.begin();
  for (Value *value : values)
    if (value->tensor())
      *value = *next++;
  return true;
}

Value asBytes(const CallSite &site, const Value &pointer) {
  const Type &type = pointer.tensor()->type;
  return site.emitter.cast(pointer, Type::pointerTo(Scalar::Int8, type.isConst), site.range);
}

//--- load ----------------------------------------------------------------------------------

Value emitLoad(const CallSite &site) {
  FunctionEmitter &emitter = site.emitter;
  Value pointer = pointerArgument(site);
  std::optional<Value> mask = maskArgument(site);
  auto cache = cacheModifier(site, {{".ca", tt::CacheModifier::CA},
                                    {".cg", tt::CacheModifier::CG},
                                    {".cs", tt::CacheModifier::CS},
                                    {".cv", tt::CacheModifier::CV}});
  auto eviction = evictionPolicy(site);
  auto isVolatile = emitter.constantBool(site["volatile"], site.rangeOf("volatile"), "volatile");
  if (pointer.isPoison() || !mask || !cache || !eviction || !isVolatile)
    return Value::poison();
  Value other = site["other"];
  if (!other.isNone() && mask->isNone())
    return emitter.error(diag::OtherWithoutMask, site.rangeOf("other"));
  const bool holdsBool = pointer.tensor()->type.scalar == Scalar::Int1;
  if (holdsBool)
    pointer = asBytes(site, pointer);
  const Scalar element = pointer.tensor()->type.scalar;
  if (!other.isNone())
    other = emitter.cast(other, element, site.rangeOf("other"));
  if (other.isPoison())
    return other;
  if (!pointer.tensor()->type.isTile() && !checkScalars(site, {{"Mask", *mask}, {"Other", other}}))
    return Value::poison();
  if (!broadcastGiven(site, {&pointer, &*mask, &other}))
    return Value::poison();
  const Type type = pointer.tensor()->type.withScalar(element);
  auto load = tt::LoadOp::create(builderOf(site), locationOf(site), type.toMlir(builderOf(site).getContext()),
                                 irValue(pointer), irValue(*mask), irValue(other), *cache, *eviction, *isVolatile);
  Value result = Value::tensor(load, type);
  return holdsBool ? emitter.cast(result, Scalar::Int1, site.range) : result;
}

//--- store ---------------------------------------------------------------------------------

Value emitStore(const CallSite &site) {
  FunctionEmitter &emitter = site.emitter;
  Value pointer = pointerArgument(site);
  std::optional<Value> mask = maskArgument(site);
  auto cache = cacheModifier(site, {{".wb", tt::CacheModifier::WB},
                                    {".cg", tt::CacheModifier::CG},
                                    {".cs", tt::CacheModifier::CS},
                                    {".wt", tt::CacheModifier::WT}});
  auto eviction = evictionPolicy(site);
  if (pointer.isPoison() || !mask || !cache || !eviction)
    return Value::poison();
  const Type pointerType = pointer.tensor()->type;
  if (pointerType.isConst)
    return emitter.error(diag::StoreToConst, site.rangeOf("pointer"), pointerType.str());
  // A bool is stored as the byte 0 or 1.
  Value value = emitter.cast(site["value"], pointerType.scalar, site.rangeOf("value"));
  if (pointerType.scalar == Scalar::Int1) {
    pointer = asBytes(site, pointer);
    value = emitter.cast(value, Scalar::Int8, site.rangeOf("value"));
  }
  if (value.isPoison())
    return value;
  if (!pointerType.isTile() && !checkScalars(site, {{"Value", value}, {"Mask", *mask}}))
    return Value::poison();
  if (!broadcastGiven(site, {&pointer, &value, &*mask}))
    return Value::poison();
  if (pointer.tensor()->type.shape != pointerType.shape)
    return emitter.error(diag::StoreShape, site.range, shapeText(pointer.tensor()->type.shape),
                         shapeText(pointerType.shape));
  tt::StoreOp::create(builderOf(site), locationOf(site), irValue(pointer), irValue(value), irValue(*mask), *cache,
                      *eviction);
  return Value();
}

} // namespace

llvm::ArrayRef<Builtin> memoryBuiltins() {
  static const Builtin table[] = {
      {"load", languageModule,
       {{"pointer"}, {"mask", "None"}, {"other", "None"}, {"boundary_check", "()"}, {"padding_option", "\"\""},
        {"cache_modifier", "\"\""}, {"eviction_policy", "\"\""}, {"volatile", "False"}},
       "The values that a pointer or a tile of pointers points to, where the mask is true.", emitLoad},
      {"store", languageModule,
       {{"pointer"}, {"value"}, {"mask", "None"}, {"boundary_check", "()"}, {"cache_modifier", "\"\""},
        {"eviction_policy", "\"\""}},
       "Writes values to where a pointer or a tile of pointers points, where the mask is true.", emitStore, true},
  };
  return table;
}

} // namespace nereid::sema
