// Passes values to the process that launched the kernel: their addresses in memory, and their types.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/HostCallEmitter.h"

#include "compiler/dialect/tt/Elements.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

static std::string typeName(Type element, bool isSigned) {
  if (isa<tt::PointerType>(element))
    return "ptr";
  if (isa<FloatType>(element))
    return std::string(tt::elementInfoOf(element)->signature);
  return (isSigned ? "i" : "u") + std::to_string(element.getIntOrFloatBitWidth());
}

llvm::Constant *HostCallEmitter::constantGlobal(llvm::Constant *value) {
  return new llvm::GlobalVariable(context.frame.module(), value->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                  value);
}

llvm::Constant *HostCallEmitter::typesOf(ValueRange values, ArrayRef<int32_t> isSigned) {
  auto *type = llvm::StructType::get(ir.getContext(), {ir.getPtrTy(), ir.getInt32Ty(), ir.getPtrTy()});
  SmallVector<llvm::Constant *> entries;
  for (auto [value, sign] : llvm::zip_equal(values, isSigned)) {
    const std::string name = typeName(tt::elementOf(value.getType()), sign);
    ArrayRef<int64_t> shape = tt::shapeOf(value.getType());
    llvm::Constant *extents = llvm::ConstantDataArray::get(
        ir.getContext(), ArrayRef<uint64_t>(reinterpret_cast<const uint64_t *>(shape.data()), shape.size()));
    entries.push_back(llvm::ConstantStruct::get(
        type, {ir.CreateGlobalString(name), ir.getInt32(shape.size()), constantGlobal(extents)}));
  }
  return constantGlobal(llvm::ConstantArray::get(llvm::ArrayType::get(type, entries.size()), entries));
}

llvm::Value *HostCallEmitter::addressesOf(Operation *op, ValueRange values) {
  auto *addressesType = llvm::ArrayType::get(ir.getPtrTy(), std::max<size_t>(values.size(), 1));
  llvm::AllocaInst *addresses = context.frame.local(addressesType, "addresses");
  const auto buffers = context.plan.operandsOf.lookup(op);
  for (auto [index, operand] : llvm::enumerate(values)) {
    llvm::Value *address;
    if (index < buffers.size() && buffers[index]) {
      address = context.buffers.at(*buffers[index]);
    } else {
      llvm::Type *type = context.lanes.memoryType(operand.getType());
      llvm::Value *value = context.scalars.of(operand);
      address = context.frame.local(type);
      ir.CreateStore(operand.getType().isInteger(1) ? ir.CreateZExt(value, type) : value, address);
    }
    ir.CreateStore(address, ir.CreateConstGEP2_64(addressesType, addresses, 0, index));
  }
  return addresses;
}
