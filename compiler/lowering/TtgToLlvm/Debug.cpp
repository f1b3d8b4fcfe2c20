// Emits prints and assertions, formatted on the device, once per element.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/dialect/tt/Extents.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

//--- assert --------------------------------------------------------------------------------

/// The user's file and line; for library code, those of the call.
static FileLineColLoc sourceLocationOf(Location location) {
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    FileLineColLoc callee = sourceLocationOf(call.getCallee());
    return callee ? callee : sourceLocationOf(call.getCaller());
  }
  if (auto named = dyn_cast<NameLoc>(location))
    return sourceLocationOf(named.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(location))
    return fused.getLocations().empty() ? FileLineColLoc() : sourceLocationOf(fused.getLocations().front());
  auto range = dyn_cast<FileLineColRange>(location);
  if (!range || range.getFilename().getValue().starts_with("<nereid>/"))
    return {};
  return FileLineColLoc::get(range.getFilename(), range.getStartLine(), range.getStartColumn());
}

static LogicalResult emitAssert(TtgFunctionEmitter &emitter, tt::AssertOp op) {
  IrBuilder &ir = emitter.ir;
  llvm::Value *holds = nullptr;
  for (llvm::Value *value : emitter.tile(op.getCondition()))
    holds = holds && holds != value ? ir.CreateAnd(holds, value) : value;
  const FileLineColLoc location = sourceLocationOf(op.getLoc());
  const Failure failure = {op.getMessage(), location ? location.getFilename().getValue() : "<unknown>",
                           emitter.function.getName(), location ? location.getLine() : 0};
  emitter.runWhere(ir.CreateNot(holds), [&] { emitter.target.fail(ir, failure); });
  return success();
}

//--- print ---------------------------------------------------------------------------------

namespace {
/// A value as printf takes it.
struct Printed {
  std::string format;
  llvm::Value *value;
};
} // namespace

static Printed printedInteger(IrBuilder &ir, llvm::Value *value, bool isSigned, bool isHex) {
  const unsigned bits = value->getType()->getIntegerBitWidth();
  const bool isWide = bits > 32;
  llvm::Type *type = isWide ? ir.getInt64Ty() : ir.getInt32Ty();
  value = isSigned && !isHex && bits > 1 ? ir.CreateSExt(value, type) : ir.CreateZExt(value, type);
  const std::string length = isWide ? "ll" : "";
  if (isHex)
    return {"0x%0" + std::to_string(std::max(1u, bits / 4)) + length + "x", value};
  return {"%" + length + (isSigned ? "d" : "u"), value};
}

Tile TtgFunctionEmitter::coordinatesInTile(const LinearLayout &layout, unsigned index) {
  Tile coordinates;
  for (llvm::StringRef out : layout.outputNames()) {
    SmallVector<uint32_t> lanes, warps;
    for (unsigned bit = 0; bit < layout.inBits(layout::kLane); ++bit)
      lanes.push_back(layout.basis(layout::kLane, bit, out));
    for (unsigned bit = 0; bit < layout.inBits(layout::kWarp); ++bit)
      warps.push_back(layout.basis(layout::kWarp, bit, out));
    uint32_t own = 0;
    for (unsigned bit = 0; bit < layout.inBits(layout::kRegister); ++bit)
      own ^= index >> bit & 1 ? layout.basis(layout::kRegister, bit, out) : 0;
    coordinates.push_back(ir.CreateXor(threadBits(lanes, warps), ir.getInt32(own)));
  }
  return coordinates;
}

llvm::Value *TtgFunctionEmitter::existsInTile(Operation *op, unsigned operand, unsigned index) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(operand).getType());
  if (!type || !op->hasAttr(tt::kExtents))
    return nullptr;
  const ArrayRef<int64_t> extents = tt::existingExtents(op, operand);
  const Tile coordinates = coordinatesInTile(ttg::linearLayoutOf(type), index);
  llvm::Value *all = nullptr;
  for (auto [coordinate, extent, shape] : llvm::zip_equal(coordinates, extents, type.getShape())) {
    if (extent == shape)
      continue;
    llvm::Value *below = ir.CreateICmpULT(coordinate, ir.getInt32(static_cast<uint32_t>(extent)));
    all = all ? ir.CreateAnd(all, below) : below;
  }
  return all;
}

/// A text escaped for a printf format.
static std::string escaped(llvm::StringRef text) {
  std::string result;
  for (char letter : text)
    result += letter == '%' ? "%%" : std::string(1, letter);
  return result;
}

/// "pid (x, y, z) idx (i, j) prefix: (operand n) value"
static void printElement(TtgFunctionEmitter &emitter, tt::PrintOp op, unsigned operand, unsigned index) {
  IrBuilder &ir = emitter.ir;
  Value source = op.getArgs()[operand];
  const Type element = tt::elementOf(source.getType());
  Tile values = {emitter.target.programId(ir, 0), emitter.target.programId(ir, 1), emitter.target.programId(ir, 2)};
  std::string format = "pid (%u, %u, %u) idx (";
  if (auto type = dyn_cast<RankedTensorType>(source.getType())) {
    for (auto [dim, extent] : llvm::enumerate(tt::existingExtents(op, operand)))
      format += (dim ? ", %" : "%") + std::to_string(std::to_string(extent - 1).size()) + "u";
    values.append(emitter.coordinatesInTile(ttg::linearLayoutOf(type), index));
  }
  format += ")" + escaped(op.getPrefix());
  if (op.getArgs().size() > 1)
    format += "(operand " + std::to_string(operand) + ") ";
  llvm::Value *value = emitter.tile(source)[index];
  if (isa<FloatType>(element)) {
    format += op.getHex() ? "%a" : "%f";
    values.push_back(emitter.elements.convert(value, element, Float64Type::get(op.getContext())));
  } else {
    if (value->getType()->isPointerTy())
      value = ir.CreatePtrToInt(value, ir.getInt64Ty());
    value = ir.CreateBitCast(value, ir.getIntNTy(value->getType()->getPrimitiveSizeInBits()));
    const bool isPointer = isa<tt::PointerType>(element);
    const Printed printed = printedInteger(ir, value, op.getIsSigned()[operand], op.getHex() || isPointer);
    format += printed.format;
    values.push_back(printed.value);
  }
  emitter.target.print(ir, format + "\n", values);
}

static void printPrefix(TtgFunctionEmitter &emitter, tt::PrintOp op) {
  IrBuilder &ir = emitter.ir;
  const Tile ids = {emitter.target.programId(ir, 0), emitter.target.programId(ir, 1), emitter.target.programId(ir, 2)};
  emitter.target.print(ir, "pid (%u, %u, %u)" + escaped(op.getPrefix()) + "\n", ids);
}

/// One thread prints each element of a tile. Scalars and texts are printed by every thread, as Triton's kernels do.
static LogicalResult emitPrint(TtgFunctionEmitter &emitter, tt::PrintOp op) {
  if (op.getArgs().empty())
    printPrefix(emitter, op);
  for (unsigned operand = 0; operand < op.getArgs().size(); ++operand) {
    const Type type = op.getArgs()[operand].getType();
    if (!isa<RankedTensorType>(type)) {
      printElement(emitter, op, operand, 0);
      continue;
    }
    emitter.runWhere(emitter.ownerOf(type), [&] {
      for (unsigned index = 0; index < numRegisters(type); ++index)
        if ((index & copyMask(type)) == 0)
          emitter.runWhere(emitter.existsInTile(op, operand, index),
                           [&] { printElement(emitter, op, operand, index); });
    });
  }
  return success();
}

void lowering::addDebugEmitters(OpEmitters &table) {
  table.add<emitAssert, tt::AssertOp>();
  table.add<emitPrint, tt::PrintOp>();
}
