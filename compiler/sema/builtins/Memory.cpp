// Built-ins that read and write memory through pointers: load, store.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/MemoryArguments.h"
#include "compiler/sema/builtins/Records.h"

namespace nereid::sema {
namespace {

/// The pointer of a load or store; options of block pointers alone are an error. Poison after an error.
Value plainPointer(const CallSite &site) {
  const Value pointer = pointerArgument(site);
  if (pointer.isPoison())
    return pointer;
  for (llvm::StringRef option : {"boundary_check", "padding_option"})
    if (llvm::any_of(site.builtin.params, [&](const BuiltinParam &param) { return param.name == option; }) &&
        !isEmptySequence(site[option]))
      return site.emitter.error(diag::NotABlockPointer, site.rangeOf(option), option, site.builtin.name,
                                pointer.tensor()->type.str());
  return pointer;
}

//--- load ----------------------------------------------------------------------------------

/// The pointers and mask of a load, with the value of masked-off lanes.
struct Target {
  Value pointer, mask, other;
};

std::optional<Target> loadTarget(const CallSite &site) {
  const Value pointer = plainPointer(site);
  std::optional<Value> mask = maskArgument(site);
  if (pointer.isPoison() || !mask)
    return std::nullopt;
  if (mask->isNone() && !site["other"].isNone()) {
    site.emitter.error(diag::OtherWithoutMask, site.rangeOf("other"));
    return std::nullopt;
  }
  return Target{pointer, *mask, site["other"]};
}

/// The target of a load by a block pointer, which has its own mask.
std::optional<Target> blockLoadTarget(const CallSite &site, llvm::ArrayRef<Value> parts) {
  for (llvm::StringRef option : {"mask", "other"})
    if (!site[option].isNone()) {
      site.emitter.error(diag::BlockPointerMask, site.rangeOf(option), "`mask` and `other` arguments", "loading");
      return std::nullopt;
    }
  auto padding = paddingArgument(site, parts[BlockPointerField::Base].tensor()->type.scalar);
  auto access = padding ? blockAccess(site, parts) : std::nullopt;
  if (!access)
    return std::nullopt;
  return Target{access->pointer, access->mask, access->mask.isNone() ? Value() : *padding};
}

Value emitLoad(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  auto cache = loadCacheModifier(site);
  auto eviction = evictionPolicy(site);
  auto isVolatile = boolArgument(site, "volatile");
  const std::vector<Value> *block = site["pointer"].partsOf(blockPointerClass());
  std::optional<Target> target = block ? blockLoadTarget(site, *block) : loadTarget(site);
  if (!target || !cache || !eviction || !isVolatile)
    return Value::poison();
  auto &[pointer, mask, other] = *target;
  const bool holdsBool = pointer.tensor()->type.scalar == Scalar::Int1;
  if (holdsBool)
    pointer = asBytes(site, pointer);
  const Scalar element = pointer.tensor()->type.scalar;
  if (!other.isNone())
    other = emitter.cast(other, element, site.rangeOf("other"));
  if (other.isPoison())
    return other;
  if (!pointer.tensor()->type.isTile() && !checkScalars(site, {{"Mask", mask}, {"Other", other}}))
    return Value::poison();
  if (!broadcastGiven(site, {&pointer, &mask, &other}))
    return Value::poison();
  const Type type = pointer.tensor()->type.withScalar(element);
  const Value result = emitOp<tt::LoadOp>(site, type, pointer, mask, other, *cache, *eviction, *isVolatile);
  return holdsBool ? emitter.cast(result, Scalar::Int1, site.range) : result;
}

//--- store ---------------------------------------------------------------------------------

std::optional<Target> storeTarget(const CallSite &site) {
  const std::vector<Value> *block = site["pointer"].partsOf(blockPointerClass());
  if (!block) {
    const Value pointer = plainPointer(site);
    std::optional<Value> mask = maskArgument(site);
    return pointer.isPoison() || !mask ? std::nullopt : std::optional(Target{pointer, *mask, Value()});
  }
  if (!site["mask"].isNone()) {
    site.emitter.error(diag::BlockPointerMask, site.rangeOf("mask"), "`mask` argument", "storing");
    return std::nullopt;
  }
  std::optional<BlockAccess> access = blockAccess(site, *block);
  return access ? std::optional(Target{access->pointer, access->mask, Value()}) : std::nullopt;
}

Value emitStore(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  auto cache = storeCacheModifier(site);
  auto eviction = evictionPolicy(site);
  std::optional<Target> target = storeTarget(site);
  if (!target || !cache || !eviction)
    return Value::poison();
  auto &[pointer, mask, other] = *target;
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
  if (!pointerType.isTile() && !checkScalars(site, {{"Value", value}, {"Mask", mask}}))
    return Value::poison();
  if (!broadcastGiven(site, {&pointer, &value, &mask}))
    return Value::poison();
  if (pointer.tensor()->type.shape != pointerType.shape)
    return emitter.error(diag::StoreShape, site.range, shapeText(pointer.tensor()->type.shape),
                         shapeText(pointerType.shape));
  tt::StoreOp::create(builderOf(site), locationOf(site), irValue(pointer), irValue(value), irValue(mask), *cache,
                      *eviction);
  return Value();
}

} // namespace

llvm::ArrayRef<Builtin> memoryBuiltins() {
  static const Builtin table[] = {
      {"load",
       languageModule,
       {{"pointer"},
        {"mask", "None"},
        {"other", "None"},
        {"boundary_check", "()"},
        {"padding_option", "\"\""},
        {"cache_modifier", "\"\""},
        {"eviction_policy", "\"\""},
        {"volatile", "False"}},
       "The values that a pointer or a tile of pointers points to, where the mask is true.",
       emitLoad},
      {"store",
       languageModule,
       {{"pointer"},
        {"value"},
        {"mask", "None"},
        {"boundary_check", "()"},
        {"cache_modifier", "\"\""},
        {"eviction_policy", "\"\""}},
       "Writes values to where a pointer or a tile of pointers points, where the mask is true.",
       emitStore,
       true},
  };
  return table;
}

} // namespace nereid::sema
