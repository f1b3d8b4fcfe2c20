// Gluon's built-ins for buffers of AMD's GPUs: a scalar pointer and a tile of offsets of 32 bits.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/gluon/amd/AmdArguments.h"
#include "compiler/target/amd/dialect/Dialect.h"

namespace nereid::sema {
namespace {

//--- load and store ------------------------------------------------------------------------

Value emitBufferLoad(const CallSite &site) {
  if (!checkAmd(site))
    return Value::poison();
  Value pointer = bufferArgument(site), offsets = offsetsArgument(site);
  if (pointer.isPoison() || offsets.isPoison())
    return Value::poison();
  const bool holdsBool = pointer.tensor()->type.scalar == Scalar::Int1;
  if (holdsBool)
    pointer = asBytes(site, pointer);
  const Scalar element = pointer.tensor()->type.scalar;
  std::optional<Value> mask = bufferMaskArgument(site), other = otherArgument(site, element);
  const auto cache = cacheArgument(site, "cache", /*isLoad=*/true);
  if (!mask || !other || !cache || !broadcastGiven(site, {&offsets, &*mask, &*other}))
    return Value::poison();
  const Type type = offsets.tensor()->type.withScalar(element);
  const Value result = emitOp<amdg::BufferLoadOp>(site, type, pointer, offsets, mlir::Value(), *cache, *mask, *other);
  return holdsBool ? site.emitter.cast(result, Scalar::Int1, site.range) : result;
}

Value emitBufferStore(const CallSite &site) {
  if (!checkAmd(site))
    return Value::poison();
  Value pointer = bufferArgument(site), offsets = offsetsArgument(site);
  if (pointer.isPoison() || offsets.isPoison())
    return Value::poison();
  const Type target = pointer.tensor()->type;
  if (target.isConst)
    return site.emitter.error(diag::StoreToConst, site.rangeOf("ptr"), target.str());
  Value value = site.emitter.cast(site["stored_value"], target.scalar, site.rangeOf("stored_value"));
  if (target.scalar == Scalar::Int1) {
    pointer = asBytes(site, pointer);
    value = site.emitter.cast(value, Scalar::Int8, site.rangeOf("stored_value"));
  }
  std::optional<Value> mask = bufferMaskArgument(site);
  const auto cache = cacheArgument(site, "cache", /*isLoad=*/false);
  const auto shape = offsets.tensor()->type.shape;
  if (value.isPoison() || !mask || !cache || !broadcastGiven(site, {&offsets, &value, &*mask}))
    return Value::poison();
  if (offsets.tensor()->type.shape != shape)
    return site.emitter.error(diag::BufferShape, site.rangeOf("offsets"), shapeText(shape),
                              shapeText(offsets.tensor()->type.shape));
  auto store = amdg::BufferStoreOp::create(builderOf(site), locationOf(site), irValue(value), irValue(pointer),
                                           irValue(offsets), mlir::Value(), *cache, irValue(*mask));
  return site.emitter.settleLayouts(store, site.range) ? Value() : Value::poison();
}

//--- atomics -------------------------------------------------------------------------------

enum class Kind : uint8_t { Add, Max, Min, And, Or, Xor, Exchange };

/// The op on that element type; nothing where no GPU has it.
std::optional<tt::RMWOp> operationOf(Kind kind, Scalar scalar, bool isCdna4) {
  using enum tt::RMWOp;
  const bool isInteger = !isFloating(scalar) && bitsOf(scalar) >= 32, isSigned = isSignedInteger(scalar);
  switch (kind) {
  case Kind::Add:
    if (isFloating(scalar))
      return bitsOf(scalar) >= 16 && (scalar != Scalar::BFloat16 || isCdna4) ? std::optional(FADD) : std::nullopt;
    return isInteger ? std::optional(ADD) : std::nullopt;
  case Kind::Max:
    return isInteger ? std::optional(isSigned ? MAX : UMAX) : std::nullopt;
  case Kind::Min:
    return isInteger ? std::optional(isSigned ? MIN : UMIN) : std::nullopt;
  case Kind::And:
    return isInteger ? std::optional(AND) : std::nullopt;
  case Kind::Or:
    return isInteger ? std::optional(OR) : std::nullopt;
  case Kind::Xor:
    return isInteger ? std::optional(XOR) : std::nullopt;
  case Kind::Exchange:
    return isInteger ? std::optional(XCHG) : std::nullopt;
  }
  llvm_unreachable("all kinds are listed");
}

std::string typesOf(Kind kind, bool isCdna4) {
  const std::string integers = "integers of 32 and 64 bits";
  return kind == Kind::Add ? (isCdna4 ? "fp16, bf16, fp32, fp64 and " : "fp16, fp32, fp64 and ") + integers : integers;
}

struct Ordering {
  tt::MemSemantic semantic = tt::MemSemantic::ACQUIRE_RELEASE;
  tt::MemSyncScope scope = tt::MemSyncScope::GPU;
};

std::optional<Ordering> orderingOf(const CallSite &site) {
  const std::optional<std::string> semantic = textOption(site, "sem"), scope = textOption(site, "scope");
  if (!semantic || !scope)
    return std::nullopt;
  Ordering ordering;
  if (!semantic->empty()) {
    const std::optional<tt::MemSemantic> known = tt::symbolizeMemSemantic(*semantic);
    if (!known)
      return site.emitter.error(diag::AtomicSemantic, site.rangeOf("sem"), *semantic), std::nullopt;
    ordering.semantic = *known;
  }
  if (!scope->empty()) {
    const std::optional<tt::MemSyncScope> known = tt::symbolizeMemSyncScope(*scope);
    if (!known)
      return site.emitter.error(diag::AtomicScope, site.rangeOf("scope"), *scope), std::nullopt;
    ordering.scope = *known;
  }
  return ordering;
}

template <Kind kind> Value emitBufferAtomic(const CallSite &site) {
  if (!checkAmd(site))
    return Value::poison();
  const Value pointer = bufferArgument(site);
  Value offsets = offsetsArgument(site);
  const std::optional<Ordering> ordering = orderingOf(site);
  if (pointer.isPoison() || offsets.isPoison() || !ordering)
    return Value::poison();
  const Type target = pointer.tensor()->type;
  if (target.isConst)
    return site.emitter.error(diag::StoreToConst, site.rangeOf("ptr"), target.str());
  const bool isCdna4 = site.builtin.module == cdna4Module;
  const std::optional<tt::RMWOp> operation = operationOf(kind, target.scalar, isCdna4);
  if (!operation)
    return site.emitter.error(diag::AtomicType, site.rangeOf("ptr"), site.builtin.name, abbreviationOf(target.scalar),
                              typesOf(kind, isCdna4));
  Value value = site.emitter.cast(site["value"], target.scalar, site.rangeOf("value"));
  std::optional<Value> mask = bufferMaskArgument(site);
  if (value.isPoison() || !mask || !broadcastGiven(site, {&offsets, &value, &*mask}))
    return Value::poison();
  return emitOp<amdg::BufferAtomicRMWOp>(site, value.tensor()->type, *operation, pointer, offsets, value, mlir::Value(),
                                         ordering->semantic, ordering->scope, *mask);
}

void addAtomic(std::vector<Builtin> &table, llvm::StringRef module, llvm::StringRef name, llvm::StringRef doc,
               Value (*emit)(const CallSite &)) {
  table.push_back({name,
                   module,
                   {{"ptr"}, {"offsets"}, {"value"}, {"mask", "None"}, {"sem", "None"}, {"scope", "None"}},
                   doc,
                   emit});
}

} // namespace

llvm::ArrayRef<Builtin> gluonAmdBufferBuiltins() {
  static const std::vector<Builtin> table = [] {
    std::vector<Builtin> all;
    for (llvm::StringRef module : {cdna3Module, cdna4Module}) {
      all.push_back({"buffer_load",
                     module,
                     {{"ptr"}, {"offsets"}, {"mask", "None"}, {"other", "None"}, {"cache", "None"}},
                     "The elements of a buffer at 32-bit offsets; `other`, or zero, where the mask is false.",
                     emitBufferLoad});
      all.push_back({"buffer_store",
                     module,
                     {{"stored_value"}, {"ptr"}, {"offsets"}, {"mask", "None"}, {"cache", "None"}},
                     "Writes elements of a buffer at 32-bit offsets where the mask is true.",
                     emitBufferStore});
      addAtomic(all, module, "buffer_atomic_add", "Adds to elements of a buffer; returns what they were.",
                emitBufferAtomic<Kind::Add>);
      addAtomic(all, module, "buffer_atomic_max", "Raises elements of a buffer to values; returns what they were.",
                emitBufferAtomic<Kind::Max>);
      addAtomic(all, module, "buffer_atomic_min", "Lowers elements of a buffer to values; returns what they were.",
                emitBufferAtomic<Kind::Min>);
      addAtomic(all, module, "buffer_atomic_and", "Bitwise and on elements of a buffer; returns what they were.",
                emitBufferAtomic<Kind::And>);
      addAtomic(all, module, "buffer_atomic_or", "Bitwise or on elements of a buffer; returns what they were.",
                emitBufferAtomic<Kind::Or>);
      addAtomic(all, module, "buffer_atomic_xor", "Exclusive or on elements of a buffer; returns what they were.",
                emitBufferAtomic<Kind::Xor>);
      addAtomic(all, module, "buffer_atomic_xchg", "Replaces elements of a buffer; returns what they were.",
                emitBufferAtomic<Kind::Exchange>);
    }
    return all;
  }();
  return table;
}

} // namespace nereid::sema
