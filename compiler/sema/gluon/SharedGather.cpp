// Built-ins of Gluon's language that access buffers in shared memory by indices.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Emission.h"
#include "compiler/sema/gluon/Diagnostics.h"
#include "compiler/sema/gluon/Names.h"
#include "compiler/sema/gluon/SharedMemory.h"

namespace nereid::sema {
namespace {

/// The operands of an access, of one shape and layout.
struct Indexed {
  const TensorValue *buffer = nullptr;
  uint32_t axis = 0;
  Value indices, values, mask; ///< those that the access does not have are None
};

bool isTile(const Value &value) { return value.tensor() && value.tensor()->type.isTile(); }

/// Reads the arguments that the call has; false after an error.
bool readArguments(const CallSite &site, Indexed &access, bool hasValues, bool hasMask) {
  access.buffer = bufferArgument(site, "self");
  auto axis = intArgument(site, "axis");
  if (!access.buffer || !axis)
    return false;
  access.axis = uint32_t(*axis);
  std::vector<Value> operands = {tensorArgument(site, "indices")};
  if (hasValues)
    operands.push_back(tensorArgument(site, "values"));
  const bool isMasked = hasMask && !site["mask"].isNone();
  if (isMasked)
    operands.push_back(tensorArgument(site, "mask"));
  if (llvm::any_of(operands, [](const Value &operand) { return operand.isPoison(); }) ||
      !broadcastAll(site.emitter, operands, site.range))
    return false;
  if (!isTile(operands.front())) {
    site.emitter.error(diag::TileExpected, site.rangeOf("indices"), site.builtin.name,
                       operands.front().tensor()->type.str());
    return false;
  }
  access.indices = operands[0];
  access.values = hasValues ? operands[1] : Value();
  access.mask = isMasked ? operands.back() : Value();
  const Type &buffer = access.buffer->type;
  if (hasValues && access.values.tensor()->type.scalar != buffer.scalar) {
    site.emitter.error(gluon::diag::BufferTile, site.rangeOf("values"), access.values.tensor()->type.str(),
                       buffer.str());
    return false;
  }
  return true;
}

/// The type of the elements that the indices name.
Type elementsOf(const Indexed &access) {
  const Type &indices = access.indices.tensor()->type;
  return Type(access.buffer->type.scalar).withShape(indices.shape).withLayout(indices.layout);
}

Value emitGather(const CallSite &site) {
  Indexed access;
  if (!readArguments(site, access, /*hasValues=*/false, /*hasMask=*/false))
    return Value::poison();
  const Type type = elementsOf(access);
  auto op = ttg::LocalGatherOp::create(builderOf(site), locationOf(site), type.toMlir(builderOf(site).getContext()),
                                       access.buffer->value, access.indices.tensor()->value, access.axis);
  return keepsRules(site, op) ? Value::tensor(op.getResult(), type) : Value::poison();
}

Value emitScatter(const CallSite &site) {
  Indexed access;
  if (!readArguments(site, access, /*hasValues=*/true, /*hasMask=*/false))
    return Value::poison();
  auto op = ttg::LocalScatterOp::create(builderOf(site), locationOf(site), access.buffer->value,
                                        access.values.tensor()->value, access.indices.tensor()->value, access.axis);
  return keepsRules(site, op) ? Value() : Value::poison();
}

template <tt::RMWOp ofSigned, tt::RMWOp ofUnsigned, tt::RMWOp ofFloats> Value emitAtomicScatter(const CallSite &site) {
  Indexed access;
  if (!readArguments(site, access, /*hasValues=*/true, /*hasMask=*/true))
    return Value::poison();
  const Type type = elementsOf(access);
  const tt::RMWOp kind = type.isFloat() ? ofFloats : isUnsignedInteger(type.scalar) ? ofUnsigned : ofSigned;
  auto op = ttg::LocalAtomicScatterRMWOp::create(
      builderOf(site), locationOf(site), type.toMlir(builderOf(site).getContext()), kind, access.buffer->value,
      access.values.tensor()->value, access.indices.tensor()->value,
      access.mask.isNone() ? mlir::Value() : access.mask.tensor()->value, access.axis);
  return keepsRules(site, op) ? Value::tensor(op.getResult(), type) : Value::poison();
}

/// One operation for all types; ops of integers alone are errors for floats.
template <tt::RMWOp op> constexpr auto emitSame = emitAtomicScatter<op, op, op>;

Builtin atomic(llvm::StringRef name, llvm::StringRef doc, Value (*emit)(const CallSite &)) {
  return {name, sharedMemoryModule, {{"self"}, {"values"}, {"indices"}, {"axis"}, {"mask", "None"}}, doc, emit, true};
}

} // namespace

llvm::ArrayRef<Builtin> gluonSharedGatherBuiltins() {
  using tt::RMWOp;
  static const Builtin table[] = {
      {"gather",
       sharedMemoryModule,
       {{"self"}, {"indices"}, {"axis"}},
       "The elements of the buffer whose coordinates along an axis are given.",
       emitGather,
       true},
      {"scatter",
       sharedMemoryModule,
       {{"self"}, {"values"}, {"indices"}, {"axis"}},
       "Writes elements of the buffer whose coordinates along an axis are given.",
       emitScatter,
       true},
      atomic("atomic_scatter_add", "Adds values to elements of the buffer; gives what they were.",
             emitAtomicScatter<RMWOp::ADD, RMWOp::ADD, RMWOp::FADD>),
      atomic("atomic_scatter_max", "The larger of elements of the buffer and values; gives what they were.",
             emitAtomicScatter<RMWOp::MAX, RMWOp::UMAX, RMWOp::MAX>),
      atomic("atomic_scatter_min", "The lesser of elements of the buffer and values; gives what they were.",
             emitAtomicScatter<RMWOp::MIN, RMWOp::UMIN, RMWOp::MIN>),
      atomic("atomic_scatter_and", "Combines elements of the buffer and values by `and`; gives what they were.",
             emitSame<RMWOp::AND>),
      atomic("atomic_scatter_or", "Combines elements of the buffer and values by `or`; gives what they were.",
             emitSame<RMWOp::OR>),
      atomic("atomic_scatter_xor", "Combines elements of the buffer and values by `xor`; gives what they were.",
             emitSame<RMWOp::XOR>),
      atomic("atomic_scatter_xchg", "Writes values to elements of the buffer; gives what they were.",
             emitSame<RMWOp::XCHG>),
  };
  return table;
}

} // namespace nereid::sema
