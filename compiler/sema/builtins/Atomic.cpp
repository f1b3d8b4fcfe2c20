// Built-ins that access memory atomically: atomic_add ... atomic_xchg, atomic_cas, atomic_load, atomic_store.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/MemoryArguments.h"

namespace nereid::sema {
namespace {

enum class AtomicKind : uint8_t { Add, Max, Min, And, Or, Xor, Exchange };

struct Ordering {
  tt::MemSemantic semantic;
  tt::MemSyncScope scope;
};

/// The options `sem` and `scope`; nothing after an error.
std::optional<Ordering> orderingOf(const CallSite &site, tt::MemSemantic otherwise = tt::MemSemantic::ACQUIRE_RELEASE) {
  std::optional<std::string> semantic = textOption(site, "sem"), scope = textOption(site, "scope");
  if (!semantic || !scope)
    return std::nullopt;
  const std::optional<tt::MemSemantic> knownSemantic =
      semantic->empty() ? otherwise : tt::symbolizeMemSemantic(*semantic);
  const std::optional<tt::MemSyncScope> knownScope =
      scope->empty() ? tt::MemSyncScope::GPU : tt::symbolizeMemSyncScope(*scope);
  if (!knownSemantic)
    site.emitter.error(diag::AtomicSemantic, site.rangeOf("sem"), *semantic);
  if (!knownScope)
    site.emitter.error(diag::AtomicScope, site.rangeOf("scope"), *scope);
  if (!knownSemantic || !knownScope)
    return std::nullopt;
  return Ordering{*knownSemantic, *knownScope};
}

/// The pointer argument, checked to be writable; poison after an error.
Value writablePointer(const CallSite &site) {
  Value pointer = pointerArgument(site);
  if (const TensorValue *tensor = pointer.tensor(); tensor && tensor->type.isConst)
    return site.emitter.error(diag::StoreToConst, site.rangeOf("pointer"), tensor->type.str());
  return pointer;
}

/// Gives the operands the pointer's shape; false after an error.
bool fitToPointer(const CallSite &site, Value &pointer, std::initializer_list<Value *> operands) {
  const Type type = pointer.tensor()->type;
  for (Value *operand : operands) {
    if (operand->isPoison())
      return false;
    if (!type.isTile() && operand->tensor() && operand->tensor()->type.isTile()) {
      site.emitter.error(diag::AtomicShape, site.range, operand->tensor()->type.str(), type.str());
      return false;
    }
    if (operand->tensor() && !broadcastGiven(site, {&pointer, operand}))
      return false;
    if (pointer.tensor()->type.shape != type.shape) {
      site.emitter.error(diag::AtomicShape, site.range, operand->tensor()->type.str(), type.str());
      return false;
    }
  }
  return true;
}

//--- Read, modify, write -------------------------------------------------------------------

/// One atomic access with all operands.
struct Access {
  const CallSite &site;
  Ordering ordering;
  Value pointer, value, mask; ///< of one shape; the mask may be None

  Value emit(tt::RMWOp op) const { return emit(op, pointer, value, mask); }
  Value emit(tt::RMWOp op, const Value &pointer, const Value &value, const Value &mask) const {
    return emitOp<tt::AtomicRMWOp>(site, value.tensor()->type, op, pointer, value, mask, ordering.semantic,
                                   ordering.scope);
  }
};

/// Floats are ordered as their bits are: those without a sign bit as signed integers, those with one as unsigned
/// integers in reverse order.
Value floatExtreme(const Access &access, bool isMax) {
  const CallSite &site = access.site;
  TtFunctionEmitter &emitter = site.emitter;
  const Scalar scalar = access.value.tensor()->type.scalar;
  const Scalar bitsType = integerOf(bitsOf(scalar), /*isSigned=*/true);
  const Value bits = emitter.bitcast(access.value, Type(bitsType), site.range);
  const Value pointer = emitter.cast(access.pointer, Type::pointerTo(bitsType), site.range);
  auto comparedWithZero = [&](syntax::CompareOperator comparison) {
    return emitter.compare(comparison, bits, Value::integer(0), site.range, site.range);
  };
  const Value truths[] = {comparedWithZero(syntax::CompareOperator::GtE),
                          comparedWithZero(syntax::CompareOperator::Lt)};
  Value results[2];
  for (unsigned side = 0; side < 2; ++side) {
    const Value mask = access.mask.isNone() ? truths[side]
                                            : emitter.binary(syntax::BinaryOperator::BitAnd, access.mask, truths[side],
                                                             site.range, site.range);
    const tt::RMWOp op =
        side == 0 ? (isMax ? tt::RMWOp::MAX : tt::RMWOp::MIN) : (isMax ? tt::RMWOp::UMIN : tt::RMWOp::UMAX);
    results[side] = access.emit(op, pointer, bits, mask);
  }
  const Value chosen = emitOp<mlir::arith::SelectOp>(site, bits.tensor()->type, truths[0], results[0], results[1]);
  return emitter.bitcast(chosen, Type(scalar), site.range);
}

Value emitCombined(const Access &access, AtomicKind kind) {
  const Type &type = access.value.tensor()->type;
  const bool isSigned = isSignedInteger(type.scalar);
  switch (kind) {
  case AtomicKind::Add:
    return access.emit(type.isFloat() ? tt::RMWOp::FADD : tt::RMWOp::ADD);
  case AtomicKind::Max:
    return type.isFloat() ? floatExtreme(access, true) : access.emit(isSigned ? tt::RMWOp::MAX : tt::RMWOp::UMAX);
  case AtomicKind::Min:
    return type.isFloat() ? floatExtreme(access, false) : access.emit(isSigned ? tt::RMWOp::MIN : tt::RMWOp::UMIN);
  case AtomicKind::And:
    return access.emit(tt::RMWOp::AND);
  case AtomicKind::Or:
    return access.emit(tt::RMWOp::OR);
  case AtomicKind::Xor:
    return access.emit(tt::RMWOp::XOR);
  case AtomicKind::Exchange:
    return access.emit(tt::RMWOp::XCHG);
  }
  llvm_unreachable("all kinds are listed");
}

/// The element types of each operation: integers of 32 and 64 bits, f32 and f64 except for bitwise operations, and sums
/// of f16 and bf16.
bool takes(AtomicKind kind, Scalar scalar) {
  const bool isBitwise = kind == AtomicKind::And || kind == AtomicKind::Or || kind == AtomicKind::Xor;
  if (isFloating(scalar))
    return !isBitwise && (bitsOf(scalar) >= 32 || (kind == AtomicKind::Add && bitsOf(scalar) == 16));
  return bitsOf(scalar) >= 32;
}

llvm::StringRef typesOf(AtomicKind kind) {
  if (kind == AtomicKind::Add)
    return "floats of 16 to 64 bits and integers of 32 and 64 bits";
  return takes(kind, Scalar::Float32) ? "fp32, fp64 and integers of 32 and 64 bits" : "integers of 32 and 64 bits";
}

template <AtomicKind kind> Value emitAtomic(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  Value pointer = writablePointer(site);
  std::optional<Value> mask = maskArgument(site);
  std::optional<Ordering> ordering = orderingOf(site);
  if (pointer.isPoison() || !mask || !ordering)
    return Value::poison();
  const Scalar scalar = pointer.tensor()->type.scalar;
  if (!takes(kind, scalar))
    return emitter.error(diag::AtomicType, site.rangeOf("pointer"), site.builtin.name, abbreviationOf(scalar),
                         typesOf(kind));
  Value value = emitter.cast(site["val"], Type(scalar), site.rangeOf("val"));
  if (!fitToPointer(site, pointer, {&value, &*mask}))
    return Value::poison();
  return emitCombined({site, *ordering, pointer, value, *mask}, kind);
}

//--- Compare and swap ----------------------------------------------------------------------

/// A number in the pointee type; a tensor must have it already.
Value operandOf(const CallSite &site, llvm::StringRef parameter, Scalar scalar) {
  const Value &argument = site[parameter];
  if (!argument.tensor())
    return site.emitter.constantOf(argument, scalar, site.rangeOf(parameter));
  if (argument.tensor()->type.element() == Type(scalar))
    return argument;
  return site.emitter.error(diag::AtomicCasType, site.rangeOf(parameter), parameter, argument.tensor()->type.str(),
                            abbreviationOf(scalar));
}

Value emitCas(const CallSite &site) {
  Value pointer = writablePointer(site);
  std::optional<Ordering> ordering = orderingOf(site);
  if (pointer.isPoison() || !ordering)
    return Value::poison();
  const Scalar scalar = pointer.tensor()->type.scalar;
  if (failed(tt::checkCompared(bitsOf(scalar), CallReporter(site.emitter, site.rangeOf("pointer"), {scalar}))))
    return Value::poison();
  Value compared = operandOf(site, "cmp", scalar), value = operandOf(site, "val", scalar);
  if (!fitToPointer(site, pointer, {&compared, &value}))
    return Value::poison();
  return emitOp<tt::AtomicCASOp>(site, value.tensor()->type, pointer, compared, value, ordering->semantic,
                                 ordering->scope);
}

//--- Load and store ------------------------------------------------------------------------

/// The options of an access that only acquires or only releases.
std::optional<Ordering> oneSidedOrdering(const CallSite &site, tt::MemSemantic side) {
  std::optional<Ordering> ordering = orderingOf(site, side);
  const CallReporter reporter(site.emitter, site.rangeOf("sem"));
  if (ordering && failed(tt::checkOneSided(site.builtin.name, ordering->semantic, side, reporter)))
    return std::nullopt;
  return ordering;
}

/// The pointer for loads and stores: a bool is a byte in memory.
Value bytewise(const CallSite &site, const Value &pointer) {
  return pointer.tensor()->type.scalar == Scalar::Int1
             ? site.emitter.cast(pointer, Type::pointerTo(Scalar::Int8), site.range)
             : pointer;
}

Value emitAtomicLoad(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  const Value argument = pointerArgument(site);
  std::optional<Value> mask = maskArgument(site);
  std::optional<Ordering> ordering = oneSidedOrdering(site, tt::MemSemantic::ACQUIRE);
  if (argument.isPoison() || !mask || !ordering)
    return Value::poison();
  Value pointer = bytewise(site, argument);
  if (pointer.tensor()->type.isTile() && !mask->isNone() && !broadcastGiven(site, {&pointer, &*mask}))
    return Value::poison();
  if (!fitToPointer(site, pointer, {&*mask}))
    return Value::poison();
  const Type type = Type(pointer.tensor()->type.scalar).withShape(pointer.tensor()->type.shape);
  const Value value = emitOp<tt::AtomicLoadOp>(site, type, pointer, *mask, ordering->semantic, ordering->scope);
  return argument.tensor()->type.scalar == Scalar::Int1 ? emitter.cast(value, Type(Scalar::Int1), site.range) : value;
}

Value emitAtomicStore(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  const Value argument = writablePointer(site);
  std::optional<Value> mask = maskArgument(site);
  std::optional<Ordering> ordering = oneSidedOrdering(site, tt::MemSemantic::RELEASE);
  if (argument.isPoison() || !mask || !ordering)
    return Value::poison();
  Value pointer = bytewise(site, argument);
  Value value = emitter.cast(site["val"], Type(argument.tensor()->type.scalar), site.rangeOf("val"));
  if (!value.isPoison())
    value = emitter.cast(value, Type(pointer.tensor()->type.scalar), site.rangeOf("val"));
  if (!fitToPointer(site, pointer, {&value, &*mask}))
    return Value::poison();
  tt::AtomicStoreOp::create(builderOf(site), locationOf(site), irValue(pointer), irValue(value), irValue(*mask),
                            ordering->semantic, ordering->scope);
  return Value();
}

template <AtomicKind kind> Builtin entry(llvm::StringLiteral name, llvm::StringLiteral doc) {
  return {name,
          languageModule,
          {{"pointer"}, {"val"}, {"mask", "None"}, {"sem", "None"}, {"scope", "None"}},
          doc,
          emitAtomic<kind>,
          /*isMember=*/true};
}

} // namespace

llvm::ArrayRef<Builtin> atomicBuiltins() {
  static const Builtin table[] = {
      entry<AtomicKind::Add>("atomic_add", "Adds to memory, atomically; returns the old value."),
      entry<AtomicKind::Max>("atomic_max", "Writes the greater of memory and a value, atomically; returns the old "
                                           "value. NaNs count as greater than infinity, with a sign as less than it."),
      entry<AtomicKind::Min>("atomic_min", "Writes the lesser of memory and a value, atomically; returns the old "
                                           "value. NaNs count as greater than infinity, with a sign as less than it."),
      entry<AtomicKind::And>("atomic_and", "Clears bits of memory, atomically; returns the old value."),
      entry<AtomicKind::Or>("atomic_or", "Sets bits of memory, atomically; returns the old value."),
      entry<AtomicKind::Xor>("atomic_xor", "Flips bits of memory, atomically; returns the old value."),
      entry<AtomicKind::Exchange>("atomic_xchg", "Writes to memory, atomically; returns the old value."),
      {"atomic_load",
       languageModule,
       {{"pointer"}, {"mask", "None"}, {"sem", "None"}, {"scope", "None"}},
       "Reads any numbers from memory, atomically; `sem` is \"acquire\" (the default) or \"relaxed\".",
       emitAtomicLoad,
       true},
      {"atomic_store",
       languageModule,
       {{"pointer"}, {"val"}, {"mask", "None"}, {"sem", "None"}, {"scope", "None"}},
       "Writes any numbers to memory, atomically; `sem` is \"release\" (the default) or \"relaxed\".",
       emitAtomicStore,
       true},
      {"atomic_cas",
       languageModule,
       {{"pointer"}, {"cmp"}, {"val"}, {"sem", "None"}, {"scope", "None"}},
       "Writes `val` where memory holds `cmp`, atomically; returns the old value.",
       emitCas,
       true},
  };
  return table;
}

} // namespace nereid::sema
