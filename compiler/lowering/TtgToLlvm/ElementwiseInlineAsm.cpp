// Emits a kernel's inline assembly on the registers of its tiles in order, `pack` at a time.
// SPDX-License-Identifier: MIT
//
// Pure assembly runs once for equal operands. Impure assembly runs for each element that a thread holds, in each thread
// that holds it.
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/Diagnostics.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

/// The registers that the assembly is run for.
static SmallVector<unsigned> registersToCompute(unsigned count, uint32_t repeats) {
  SmallVector<unsigned> registers;
  for (unsigned index = 0; index < count; ++index)
    if ((index & repeats) == 0)
      registers.push_back(index);
  return registers;
}

/// Merges values of the basic block of `ir` with zeros for the path that skipped it.
static void joinWithZero(IrBuilder &ir, llvm::BasicBlock *skipped, llvm::BasicBlock *inside,
                         SmallVectorImpl<Elements> &parts) {
  for (Elements &part : parts)
    for (llvm::Value *&value : part) {
      llvm::PHINode *joined = ir.CreatePHI(value->getType(), 2);
      joined->addIncoming(llvm::Constant::getNullValue(value->getType()), skipped);
      joined->addIncoming(value, inside);
      value = joined;
    }
}

static SmallVector<Elements, 2> runWhereExisting(TtgFunctionEmitter &emitter, tt::ElementwiseInlineAsmOp op,
                                                 ArrayRef<unsigned> registers,
                                                 llvm::function_ref<SmallVector<Elements, 2>()> emit) {
  IrBuilder &ir = emitter.ir;
  llvm::Value *any = nullptr;
  for (unsigned index : registers) {
    llvm::Value *exists = op.getArgs().empty() ? nullptr : emitter.existsInTile(op, /*operand=*/0, index);
    if (!exists)
      return emit();
    any = any ? ir.CreateOr(any, exists) : exists;
  }
  llvm::BasicBlock *before = ir.GetInsertBlock(), *inside = emitter.newBlock("asm"),
                   *after = emitter.newBlock("asm.end");
  ir.CreateCondBr(any, inside, after);
  ir.SetInsertPoint(inside);
  SmallVector<Elements, 2> parts = emit();
  inside = ir.GetInsertBlock();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  joinWithZero(ir, before, inside, parts);
  return parts;
}

static LogicalResult emitAssembly(TtgFunctionEmitter &emitter, tt::ElementwiseInlineAsmOp op) {
  if (op.getNumResults() == 0)
    return tt::report(op.getLoc(), diag::AsmWithoutResult);
  const unsigned pack = op.getPackedElement(), count = numRegisters(op.getResult(0).getType());
  const uint32_t repeats = copyMask(op.getResult(0).getType());
  const SmallVector<unsigned> registers = registersToCompute(count, repeats);
  SmallVector<Tile, 2> results(op.getNumResults(), Tile(count, nullptr));
  std::map<SmallVector<llvm::Value *>, SmallVector<Elements, 2>> known;
  auto typeOf = [&](Type type) { return emitter.elements.typeOf(type); };
  for (unsigned first = 0; first < registers.size(); first += pack) {
    // The last register fills positions past the end.
    auto registerAt = [&](unsigned index) { return registers[std::min<size_t>(first + index, registers.size() - 1)]; };
    SmallVector<Elements, 4> operands;
    SmallVector<llvm::Value *> key;
    for (Value operand : op.getArgs()) {
      Elements values;
      for (unsigned index = 0; index < pack; ++index)
        values.push_back(emitter.tile(operand)[isa<RankedTensorType>(operand.getType()) ? registerAt(index) : 0]);
      llvm::append_range(key, values);
      operands.push_back(std::move(values));
    }
    SmallVector<Elements, 2> &parts = known[key];
    if (parts.empty() || !op.getPure())
      parts = runWhereExisting(emitter, op,
                               ArrayRef(registers).slice(first, std::min<size_t>(pack, registers.size() - first)),
                               [&] { return lowering::emitInlineAsm(emitter.ir, op, operands, typeOf, /*cookie=*/0); });
    if (parts.empty())
      return failure();
    for (auto [result, part] : llvm::zip_equal(results, parts))
      for (unsigned index = 0; index < pack && first + index < registers.size(); ++index)
        result[registerAt(index)] = part[index];
  }
  for (auto [value, result] : llvm::zip_equal(op.getResults(), results)) {
    for (unsigned index = 0; index < count; ++index)
      result[index] = result[index & ~repeats];
    emitter.define(value, std::move(result));
  }
  return success();
}

void lowering::addInlineAsmEmitters(OpEmitters &table) { table.add<emitAssembly, tt::ElementwiseInlineAsmOp>(); }
