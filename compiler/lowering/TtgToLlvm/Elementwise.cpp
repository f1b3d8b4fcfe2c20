// Types of elements on a GPU, and ops that are not in the table of all targets.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/Elementwise.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/tt/TypeName.h"
#include "compiler/lowering/Diagnostics.h"
#include "compiler/lowering/ExternForms.h"
#include "compiler/lowering/asm/InlineAsm.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

llvm::Type *ElementEmitter::typeOf(Type element) {
  if (auto pointer = dyn_cast<tt::PointerType>(element))
    return ir.getPtrTy(pointer.getAddressSpace());
  if (isa<IndexType>(element))
    return ir.getInt64Ty();
  if (element.isF16())
    return ir.getHalfTy();
  if (element.isBF16())
    return ir.getBFloatTy();
  if (element.isF32())
    return ir.getFloatTy();
  if (element.isF64())
    return ir.getDoubleTy();
  return ir.getIntNTy(element.getIntOrFloatBitWidth());
}

llvm::Value *ElementEmitter::toMemory(llvm::Value *value) {
  return value->getType()->isIntegerTy(1) ? ir.CreateZExt(value, ir.getInt8Ty()) : value;
}

llvm::Value *ElementEmitter::fromMemory(llvm::Value *value, Type element) {
  return element.isInteger(1) ? ir.CreateTrunc(value, ir.getInt1Ty()) : value;
}

SmallVector<llvm::Value *, 2> ElementEmitter::emit(Operation *op, ArrayRef<llvm::Value *> operands) {
  if (auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op))
    return inlineAsm(assembly, operands);
  if (auto external = dyn_cast<tt::ExternElementwiseOp>(op))
    return externOp(external, operands);
  if (auto results = emitByTable(op, operands); !results.empty())
    return results;
  const std::string of = op->getNumOperands() ? " of " + tt::userName(tt::elementOf(op->getOperand(0).getType())) : "";
  tt::report(op->getLoc(), diag::OpUnsupported, op->getName().stripDialect(), of);
  return {};
}

SmallVector<llvm::Value *, 2> ElementEmitter::externOp(tt::ExternElementwiseOp op, ArrayRef<llvm::Value *> in) {
  ExternCall call = {op.getSymbol(), op.getLibpath(), in, typeOf(tt::elementOf(op.getType()))};
  llvm::Value *result = call.libraryPath.empty() ? emitExtern(ir, call.symbol, in, target.mathFeatures()) : nullptr;
  if (!result || result->getType() != call.result)
    result = target.callExtern(ir, call);
  if (!result && call.libraryPath.empty()) {
    call.libraryPath = target.externLibrary(op.getLibname(), op.getSymbol());
    result = call.libraryPath.empty() ? nullptr : target.callExtern(ir, call);
  }
  if (result)
    return {result};
  const std::string library =
      call.libraryPath.empty()
          ? "libdevice with these types; other functions need the path of their library, as `lib_path` or, by its "
            "name, in the option `extern_libs`"
          : target.describeLack(call);
  tt::report(op.getLoc(), diag::ExternUnknown, call.symbol, library);
  return {};
}

SmallVector<llvm::Value *, 2> ElementEmitter::inlineAsm(tt::ElementwiseInlineAsmOp op, ArrayRef<llvm::Value *> in) {
  // The one element fills all packed positions.
  SmallVector<Elements, 4> operands;
  for (llvm::Value *value : in)
    operands.push_back(Elements(op.getPackedElement(), value));
  SmallVector<llvm::Value *, 2> results;
  for (const Elements &result : emitInlineAsm(ir, op, operands, [&](Type type) { return typeOf(type); }, /*cookie=*/0))
    results.push_back(result.front());
  return results;
}
