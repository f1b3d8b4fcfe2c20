// Common arguments of the memory built-ins: pointers, masks, hints.
// SPDX-License-Identifier: MIT
#include "compiler/sema/builtins/MemoryArguments.h"

#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Records.h"

#include "llvm/ADT/StringSwitch.h"

namespace nereid::sema {

//--- Hints ---------------------------------------------------------------------------------

using CacheNames = std::initializer_list<std::pair<llvm::StringLiteral, tt::CacheModifier>>;

static std::optional<tt::CacheModifier> cacheModifier(const CallSite &site, CacheNames names) {
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

std::optional<tt::CacheModifier> loadCacheModifier(const CallSite &site) {
  return cacheModifier(site, {{".ca", tt::CacheModifier::CA},
                              {".cg", tt::CacheModifier::CG},
                              {".cs", tt::CacheModifier::CS},
                              {".cv", tt::CacheModifier::CV}});
}

std::optional<tt::CacheModifier> storeCacheModifier(const CallSite &site) {
  return cacheModifier(site, {{".wb", tt::CacheModifier::WB},
                              {".cg", tt::CacheModifier::CG},
                              {".cs", tt::CacheModifier::CS},
                              {".wt", tt::CacheModifier::WT}});
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

//--- Pointers and masks --------------------------------------------------------------------

bool isEmptySequence(const Value &value) {
  if (const std::string *text = value.get<std::string>())
    return text->empty();
  return value.isNone() || (value.elements() && value.elements()->empty());
}

Value pointerArgument(const CallSite &site) {
  const Value &pointer = site["pointer"];
  const TensorValue *tensor = pointer.tensor();
  if (tensor && tensor->type.isPointer)
    return pointer;
  return site.emitter.error(
      diag::NotAPointer, site.rangeOf("pointer"), tensor ? tensor->type.str() : pointer.kindName(), site.builtin.name,
      pointer.partsOf(descriptorClass()) ? "; a tensor descriptor has methods: `d.load(offsets)`" : "");
}

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

bool checkScalars(const CallSite &site, std::initializer_list<std::pair<llvm::StringLiteral, Value>> operands) {
  for (const auto &[name, operand] : operands) {
    if (!operand.tensor() || !operand.tensor()->type.isTile())
      continue;
    site.emitter.error(diag::TileForScalarPointer, site.rangeOf(name.lower()), name, operand.tensor()->type.str());
    return false;
  }
  return true;
}

bool broadcastGiven(const CallSite &site, std::initializer_list<Value *> values) {
  llvm::SmallVector<Value> operands;
  for (Value *value : values)
    if (value->tensor())
      operands.push_back(*value);
  if (!broadcastAll(site.emitter, operands, site.range))
    return false;
  auto next = operands.begin();
  for (Value *value : values)
    if (value->tensor())
      *value = *next++;
  return true;
}

Value asBytes(const CallSite &site, const Value &pointer) {
  const Type &type = pointer.tensor()->type;
  return site.emitter.cast(pointer, Type::pointerTo(Scalar::Int8, type.isConst), site.range);
}

} // namespace nereid::sema
