// Emits functions of a module, their calls, and thread indices.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/ttg/Buffers.h"
#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/Diagnostics.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

unsigned lowering::numRegisters(Type type) {
  if (auto buffer = dyn_cast<ttg::MemDescType>(type))
    return ttg::isPartOfBuffer(buffer) ? 2 : 1;
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? ttg::linearLayoutOf(tile).inSize(layout::kRegister) : 1;
}

uint32_t lowering::copyMask(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? ttg::linearLayoutOf(tile).freeVariableMask(layout::kRegister) : 0;
}

//--- thread indices ------------------------------------------------------------------------

llvm::Value *TtgFunctionEmitter::thread() {
  if (threadNumber)
    return threadNumber;
  threadNumber = target.threadId(prologue, module.numThreads);
  if (numThreads == module.numThreads)
    return threadNumber;
  // A mask shows LLVM which bits are zero.
  if (firstThread % numThreads == 0)
    return threadNumber = prologue.CreateAnd(threadNumber, prologue.getInt32(numThreads - 1));
  return threadNumber = prologue.CreateSub(threadNumber, prologue.getInt32(firstThread), "", /*HasNUW=*/true);
}

/// Applies a linear map over GF(2), given by the image of each bit of `number`, which is below 2^bases.size().
static llvm::Value *applyBases(IrBuilder &ir, llvm::Value *number, ArrayRef<uint32_t> bases) {
  // Bits that move by one distance are shifted together.
  std::map<int, uint32_t> maskOfShift; // the bits of `number` that are moved by a distance
  for (auto [bit, basis] : llvm::enumerate(bases))
    for (int to = 0; to < 32; ++to)
      if (basis >> to & 1)
        maskOfShift[to - static_cast<int>(bit)] |= 1u << bit;
  llvm::Value *sum = nullptr;
  uint32_t reached = 0;
  const uint32_t all = (1u << bases.size()) - 1;
  for (auto [shift, mask] : maskOfShift) {
    const uint32_t lowest = mask & -mask;
    llvm::Value *moved = number;
    // A right shift drops the bits below the lowest one by itself.
    const bool dropsLow = shift < 0 && (1u << -shift) == lowest;
    const uint32_t remaining = dropsLow ? all & ~(lowest - 1) : all;
    if (mask != remaining)
      moved = ir.CreateAnd(moved, ir.getInt32(mask));
    moved = shift < 0 ? ir.CreateLShr(moved, -shift) : ir.CreateShl(moved, shift, "", true, true);
    const uint32_t bits = shift < 0 ? mask >> -shift : mask << shift;
    if (!sum)
      sum = moved;
    else
      sum = reached & bits ? ir.CreateXor(sum, moved) : ir.CreateOr(sum, moved, "", /*IsDisjoint=*/true);
    reached |= bits;
  }
  return sum ? sum : ir.getInt32(0);
}

/// Concatenates bases of lane bits and warp bits into bases of the thread index's bits.
static std::vector<uint32_t> byThreadBit(ArrayRef<uint32_t> lanes, ArrayRef<uint32_t> warps, unsigned threadsPerWarp) {
  std::vector<uint32_t> bases(llvm::Log2_32(threadsPerWarp), 0);
  llvm::copy(lanes, bases.begin());
  bases.insert(bases.end(), warps.begin(), warps.end());
  while (!bases.empty() && bases.back() == 0 && bases.size() > llvm::Log2_32(threadsPerWarp))
    bases.pop_back();
  return bases;
}

llvm::Value *TtgFunctionEmitter::threadBits(ArrayRef<uint32_t> laneBases, ArrayRef<uint32_t> warpBases) {
  std::vector<uint32_t> bases = byThreadBit(laneBases, warpBases, target.threadsPerWarp());
  if (llvm::all_of(bases, [](uint32_t basis) { return basis == 0; }))
    return ir.getInt32(0);
  bases.resize(llvm::Log2_32_Ceil(numThreads)); // covers all thread bits, so that absent bits need no mask
  llvm::Value *&known = threadParts[bases];
  if (!known)
    known = applyBases(prologue, thread(), bases);
  return known;
}

llvm::Value *TtgFunctionEmitter::warpBits(ArrayRef<uint32_t> warpBases) {
  llvm::Value *bits = threadBits({}, warpBases);
  if (isa<llvm::Constant>(bits))
    return nullptr;
  std::vector<uint32_t> key(warpBases.begin(), warpBases.end());
  key.insert(key.end(), {'w', 'a', 'r', 'p', 's'});
  llvm::Value *&known = threadParts[key];
  if (!known)
    known = target.shuffleIndex(prologue, bits, prologue.getInt32(0));
  return known;
}

static uint32_t threadMask(uint32_t laneMask, uint32_t warpMask, unsigned threadsPerWarp) {
  return laneMask | warpMask << llvm::Log2_32(threadsPerWarp);
}

llvm::Value *TtgFunctionEmitter::threadHasNone(uint32_t laneMask, uint32_t warpMask) {
  const uint32_t mask = threadMask(laneMask, warpMask, target.threadsPerWarp()) & threadIndexMask();
  if (mask == 0)
    return nullptr;
  llvm::Value *&known = threadParts[{mask, 'n', 'o', 'n', 'e'}];
  if (!known)
    known = prologue.CreateICmpEQ(prologue.CreateAnd(thread(), prologue.getInt32(mask)), prologue.getInt32(0));
  return known;
}

llvm::Value *TtgFunctionEmitter::threadIsOdd(uint32_t laneMask, uint32_t warpMask) {
  const uint32_t mask = threadMask(laneMask, warpMask, target.threadsPerWarp()) & threadIndexMask();
  llvm::Value *&known = threadParts[{mask, 'o', 'd', 'd'}];
  if (known)
    return known;
  llvm::Value *bits = prologue.CreateAnd(thread(), prologue.getInt32(mask));
  if (!llvm::isPowerOf2_32(mask))
    bits = prologue.CreateAnd(prologue.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits), prologue.getInt32(1));
  return known = prologue.CreateICmpNE(bits, prologue.getInt32(0));
}

void TtgFunctionEmitter::barrier() { isOneWarp ? target.syncWarp(ir) : target.barrier(ir, barrierScope); }

llvm::Value *TtgFunctionEmitter::ownerOf(Type pointers) {
  auto type = dyn_cast<RankedTensorType>(pointers);
  if (!type)
    return isFirstThread();
  const layout::LinearLayout &layout = ttg::linearLayoutOf(type);
  return threadHasNone(layout.freeVariableMask(layout::kLane), layout.freeVariableMask(layout::kWarp));
}

//--- programs ------------------------------------------------------------------------------

llvm::Value *TtgFunctionEmitter::programScratch(uint32_t scratchOffset) {
  auto number = [&](unsigned axis) { return ir.CreateZExt(target.programId(ir, axis), ir.getInt64Ty()); };
  auto count = [&](unsigned axis) { return ir.CreateZExt(target.numPrograms(ir, axis), ir.getInt64Ty()); };
  llvm::Value *program = ir.CreateAdd(number(1), ir.CreateMul(count(1), number(2)));
  program = ir.CreateAdd(number(0), ir.CreateMul(count(0), program));
  auto bytes = source->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(ttg::kScratchBytes);
  llvm::Value *begin = function.getArg(function.arg_size() - 2);
  llvm::Value *offset = ir.CreateMul(program, ir.getInt64(bytes.getInt()));
  return ir.CreatePtrAdd(begin, ir.CreateAdd(offset, ir.getInt64(scratchOffset)));
}

static LogicalResult emitProgramId(TtgFunctionEmitter &emitter, tt::GetProgramIdOp op) {
  emitter.define(op, {emitter.target.programId(emitter.ir, static_cast<unsigned>(op.getAxis()))});
  return success();
}

static LogicalResult emitNumPrograms(TtgFunctionEmitter &emitter, tt::GetNumProgramsOp op) {
  emitter.define(op, {emitter.target.numPrograms(emitter.ir, static_cast<unsigned>(op.getAxis()))});
  return success();
}

static LogicalResult emitBarrier(TtgFunctionEmitter &emitter, Operation *) {
  emitter.barrier();
  return success();
}

//--- calls ---------------------------------------------------------------------------------

static LogicalResult emitReturn(TtgFunctionEmitter &emitter, tt::ReturnOp op) {
  IrBuilder &ir = emitter.ir;
  Tile values;
  for (Value operand : op.getValues())
    llvm::append_range(values, emitter.tile(operand));
  if (values.empty())
    ir.CreateRetVoid();
  else if (values.size() == 1)
    ir.CreateRet(values.front());
  else
    ir.CreateAggregateRet(values.data(), values.size());
  return success();
}

static LogicalResult emitCall(TtgFunctionEmitter &emitter, tt::CallOp op) {
  IrBuilder &ir = emitter.ir;
  auto callee = SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(op, op.getCalleeAttr());
  llvm::Function *known = callee ? emitter.module.functions.lookup(callee) : nullptr;
  if (!known)
    return op.emitError() << "`" << op.getCallee() << "` has no body to call";
  Tile arguments;
  for (Value operand : op.getArgs())
    for (llvm::Value *value : emitter.tile(operand))
      arguments.push_back(emitter.elements.toMemory(value));
  llvm::CallInst *call = ir.CreateCall(known, arguments);
  const bool isSingle = !known->getReturnType()->isStructTy();
  unsigned next = 0;
  for (Value result : op.getResults()) {
    Tile values;
    for (unsigned part = 0; part < numRegisters(result.getType()); ++part, ++next)
      values.push_back(isSingle ? static_cast<llvm::Value *>(call) : ir.CreateExtractValue(call, next));
    emitter.define(result, std::move(values));
  }
  return success();
}

//--- the module ----------------------------------------------------------------------------

namespace {
/// Types of a function's values, register by register.
class Signature {
public:
  Signature(llvm::Module &module, TargetEmitter &target)
      : ir(module.getContext()), elements(ir, target, false), target(target) {}

  llvm::FunctionType *of(tt::FuncOp source) {
    SmallVector<llvm::Type *> parameters, results;
    for (auto [index, type] : llvm::enumerate(source.getArgumentTypes()))
      if (ttg::parameterByValue(source, index))
        parameters.push_back(ir.getPtrTy());
      else
        add(parameters, type, /*inMemory=*/true);
    for (Type type : source.getResultTypes())
      add(results, type, /*inMemory=*/false);
    if (source.isPublic()) // the scratch pointers: global, profiling
      parameters.append(2, ir.getPtrTy(1));
    llvm::Type *result = results.empty()       ? ir.getVoidTy()
                         : results.size() == 1 ? results.front()
                                               : llvm::StructType::get(ir.getContext(), results);
    return llvm::FunctionType::get(result, parameters, false);
  }

private:
  void add(SmallVector<llvm::Type *> &types, Type type, bool inMemory) {
    if (isa<ttg::MemDescType>(type)) { // an address, and the offset of a part
      types.push_back(ir.getPtrTy(target.sharedAddressSpace()));
      types.append(numRegisters(type) - 1, ir.getInt32Ty());
      return;
    }
    const Type element = tt::elementOf(type);
    types.append(numRegisters(type), inMemory ? elements.memoryType(element) : elements.typeOf(element));
  }

  IrBuilder ir;
  ElementEmitter elements;
  TargetEmitter &target;
};
} // namespace

/// Each kernel argument has one register.
static LogicalResult markByValueParameters(tt::FuncOp source, llvm::Function &function, TargetEmitter &target) {
  for (unsigned index = 0; index < source.getNumArguments(); ++index)
    if (ttg::parameterByValue(source, index) &&
        (!source.isPublic() || !target.markParameterByValue(*function.getArg(index))))
      return tt::report(source.getLoc(), diag::ParameterByValue, index, source.getSymName());
  return success();
}

static bool reassignsRegisters(tt::FuncOp function) {
  auto reassigns = [](ttg::WarpSpecializeOp op) {
    return op.getActualRegisters() ? WalkResult::interrupt() : WalkResult::skip();
  };
  return function.walk<WalkOrder::PreOrder>(reassigns).wasInterrupted();
}

static llvm::GlobalVariable *createSharedArray(llvm::Module &module, TargetEmitter &target, uint32_t alignment) {
  auto *type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
  auto *array = new llvm::GlobalVariable(module, type, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
                                         nullptr, "nereid_shared", nullptr, llvm::GlobalValue::NotThreadLocal,
                                         target.sharedAddressSpace());
  array->setAlignment(llvm::Align(alignment));
  return array;
}

LogicalResult lowering::emitModule(ModuleOp source, llvm::Module &result, TargetEmitter &target,
                                   const analysis::SharedMemoryPlan &shared, const EmissionOptions &options) {
  TtgModuleEmitter emitter = {.module = result,
                              .target = target,
                              .options = options,
                              .shared = shared,
                              .axes = index::AxisInfoAnalysis(source),
                              .debug = DebugInfo(result, DebugInfo::Kind::DebugDirectivesOnly)};
  addOpEmitters(emitter.emitters);
  target.addOpEmitters(emitter.emitters);
  emitter.numThreads = ttg::totalWarpsOf(source) * target.threadsPerWarp();
  if (shared.bytes)
    emitter.sharedBase = createSharedArray(result, target, shared.alignment);
  Signature signature(result, target);
  for (auto function : source.getOps<tt::FuncOp>()) {
    if (function.isExternal())
      continue;
    const auto linkage = function.isPublic() ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage;
    auto *declaration = llvm::Function::Create(signature.of(function), linkage, function.getSymName(), result);
    declaration->addFnAttr(llvm::Attribute::NoUnwind);
    if (function.isPublic())
      target.markKernel(*declaration, {.numThreads = emitter.numThreads,
                                       .maxRegisters = options.maxRegisters,
                                       .reassignsRegisters = !options.maxRegisters && reassignsRegisters(function)});
    else
      declaration->addFnAttr(llvm::Attribute::NoInline);
    if (failed(markByValueParameters(function, *declaration, target)))
      return failure();
    emitter.functions[function] = declaration;
  }
  for (auto function : source.getOps<tt::FuncOp>())
    if (!function.isExternal())
      if (failed(TtgFunctionEmitter(emitter, function, *emitter.functions[function]).run()))
        return failure();
  emitter.debug.finish();
  return success();
}

void lowering::addProgramEmitters(OpEmitters &table) {
  table.add<emitProgramId, tt::GetProgramIdOp>();
  table.add<emitNumPrograms, tt::GetNumProgramsOp>();
  table.add<emitCall, tt::CallOp>();
  table.add<emitReturn, tt::ReturnOp>();
  table.add<emitBarrier, ttg::BarrierOp, imported::BarrierOp>();
}
