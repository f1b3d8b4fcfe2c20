// Emits a kernel's LLVM function from its plan: parameters, the program loop, scalars.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/KernelEmitter.h"

#include "compiler/dialect/check/Dialect.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/lowering/Kernel.h"
#include "compiler/target/cpu/emit/AmxEmitter.h"
#include "compiler/target/cpu/emit/ControlFlow.h"
#include "compiler/target/cpu/emit/DotEmitter.h"
#include "compiler/target/cpu/emit/NestEmitter.h"
#include "compiler/target/cpu/emit/Transpose.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"
#include "compiler/target/cpu/plan/WaitLoops.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

KernelEmitter::KernelEmitter(llvm::Module &module, tt::FuncOp kernel, LoopPlan &plan, AffineInfo &affineInfo,
                             const CpuFeatures &machine, const support::Options &options)
    : ir(module.getContext()), lanes(ir, machine, options.enableFpFusion), plan(plan), affineInfo(affineInfo),
      machine(machine), kernel(kernel), options(options), debug(module) {
  llvm::Type *pointer = ir.getPtrTy(), *count = ir.getInt64Ty();
  auto *type = llvm::FunctionType::get(ir.getVoidTy(), {pointer, pointer, count, count, pointer}, false);
  function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kernel.getSymName(), module);
  // The arena aliases no other memory, and no program writes its own parameters.
  for (unsigned index : {0u, 1u, 4u})
    function->addParamAttr(index, llvm::Attribute::NoAlias);
  for (unsigned index : {0u, 1u})
    function->addParamAttr(index, llvm::Attribute::ReadOnly);
  function->addParamAttr(4, llvm::Attribute::getWithAlignment(module.getContext(), llvm::Align(64)));
  addAttributes(*function);
  kernel.walk<WalkOrder::PreOrder>([&, next = 1u](Operation *op) mutable { positions[op] = next++; });
  kernel.walk([&](scf::WhileOp loop) { mayWait |= cpu::waitKind(loop).has_value(); });
  debug.begin(*function, kernel.getLoc());
}

void KernelEmitter::addAttributes(llvm::Function &function) const {
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr("no-trapping-math", "true");
  if (machine.hasAvx512)
    function.addFnAttr("prefer-vector-width", "512");
}

void KernelEmitter::callShared(const llvm::Twine &name, ArrayRef<llvm::Value **> values,
                               llvm::function_ref<void()> body) {
  std::string key = name.str();
  SmallVector<llvm::Value *> arguments;
  SmallVector<llvm::Value **> parameters;
  for (auto [index, value] : llvm::enumerate(values)) {
    if (auto *constant = dyn_cast<llvm::ConstantInt>(*value)) {
      key += ".arg" + std::to_string(index) + "." + llvm::toString(constant->getValue(), 10, /*Signed=*/true);
      continue;
    }
    arguments.push_back(*value);
    parameters.push_back(value);
  }
  llvm::Function *&shared = sharedFunctions[key];
  if (!shared) {
    SmallVector<llvm::Type *> types;
    for (llvm::Value *argument : arguments)
      types.push_back(argument->getType());
    shared = llvm::Function::Create(llvm::FunctionType::get(ir.getVoidTy(), types, false),
                                    llvm::Function::InternalLinkage, key, *function->getParent());
    addAttributes(*shared);
    const llvm::IRBuilder<>::InsertPointGuard guard(ir);
    ir.SetInsertPoint(llvm::BasicBlock::Create(ir.getContext(), "entry", shared));
    ir.SetCurrentDebugLocation({});
    for (auto [index, parameter] : llvm::enumerate(parameters))
      *parameter = shared->getArg(index);
    body();
    ir.CreateRetVoid();
    for (auto [parameter, argument] : llvm::zip_equal(parameters, arguments))
      *parameter = argument;
  }
  ir.CreateCall(shared, arguments);
}

llvm::BasicBlock *KernelEmitter::newBlock(const char *name) {
  return llvm::BasicBlock::Create(ir.getContext(), name, function);
}

llvm::AllocaInst *KernelEmitter::local(llvm::Type *type, const llvm::Twine &name) {
  llvm::BasicBlock &entry = function->getEntryBlock();
  llvm::IRBuilder<> start(&entry, entry.begin());
  return start.CreateAlloca(type, nullptr, name);
}

llvm::AllocaInst *KernelEmitter::local(llvm::Constant *initial, const llvm::Twine &name) {
  llvm::AllocaInst *variable = local(initial->getType(), name);
  llvm::IRBuilder<> start(variable->getParent(), std::next(variable->getIterator()));
  start.CreateStore(initial, variable);
  return variable;
}

//--- parameters ----------------------------------------------------------------------------

void KernelEmitter::loadParameters() {
  for (auto [argument, param] : llvm::zip_equal(kernel.getArguments(), lowering::paramsOf(kernel))) {
    llvm::Value *address = ir.CreateConstGEP1_64(ir.getInt8Ty(), function->getArg(0), param.offset);
    llvm::Value *value = ir.CreateLoad(lanes.memoryType(argument.getType()), address);
    if (argument.getType().isInteger(1))
      value = ir.CreateTrunc(value, ir.getInt1Ty());
    define(argument, value);
  }
  for (unsigned dim = 0; dim < 3; ++dim)
    gridSize[dim] = ir.CreateLoad(ir.getInt32Ty(), ir.CreateConstGEP1_64(ir.getInt32Ty(), function->getArg(1), dim));
}

LogicalResult KernelEmitter::run() {
  ir.SetInsertPoint(newBlock("entry"));
  setLocation(kernel.getLoc());
  loadParameters();
  for (const Buffer &buffer : plan.buffers)
    current.push_back(ir.CreateConstGEP1_64(ir.getInt8Ty(), function->getArg(4), buffer.offset));
  next.resize(current.size());
  decideStreaming();
  LogicalResult result = emitPrograms();
  debug.finish();
  return result;
}

bool cpu::usesTiles(const LoopPlan &plan) {
  bool found = false;
  for (const Step &step : plan.body.steps)
    forEachStep(step, [&](const Step &inner) { found |= inner.dot && inner.dot->form.usesTiles; });
  return found;
}

/// for (id = begin; id < end; ++id), with the ids along the three axes updated in step.
LogicalResult KernelEmitter::emitPrograms() {
  llvm::Value *begin = function->getArg(2), *end = function->getArg(3);
  llvm::Type *wide = ir.getInt64Ty();
  llvm::Value *gridX = ir.CreateZExt(gridSize[0], wide), *gridY = ir.CreateZExt(gridSize[1], wide);
  llvm::Value *zero = ir.getInt32(0), *one = ir.getInt32(1);
  llvm::BasicBlock *first = newBlock("first"), *program = newBlock("program"), *done = newBlock("done");
  programsDone = done;
  ir.CreateCondBr(ir.CreateICmpULT(begin, end), first, done);

  ir.SetInsertPoint(first); // the grid is not empty here: no division by zero
  llvm::Value *row = ir.CreateUDiv(begin, gridX);
  llvm::Value *firstIds[] = {ir.CreateTrunc(ir.CreateURem(begin, gridX), ir.getInt32Ty()),
                             ir.CreateTrunc(ir.CreateURem(row, gridY), ir.getInt32Ty()),
                             ir.CreateTrunc(ir.CreateUDiv(row, gridY), ir.getInt32Ty())};
  const bool hasTiles = usesTiles(plan);
  if (hasTiles)
    emitBeginOfTiles(ir);
  llvm::Value *programs = ir.CreateMul(ir.CreateMul(gridX, gridY), ir.CreateZExt(gridSize[2], wide));
  beginKeeping(ir.CreateICmpEQ(programs, ir.getInt64(1)));
  llvm::BasicBlock *entering = ir.GetInsertBlock();
  ir.CreateBr(program);

  ir.SetInsertPoint(program);
  llvm::PHINode *id = ir.CreatePHI(wide, 2, "id");
  llvm::PHINode *ids[3];
  for (unsigned dim = 0; dim < 3; ++dim) {
    ids[dim] = ir.CreatePHI(ir.getInt32Ty(), 2);
    ids[dim]->addIncoming(firstIds[dim], entering);
    programId[dim] = ids[dim];
  }
  id->addIncoming(begin, entering);
  planProgramPrefetches();
  if (failed(emitSequence(plan.body)))
    return failure();

  setLocation(kernel.getLoc());
  llvm::Value *nextId = ir.CreateAdd(id, ir.getInt64(1));
  llvm::Value *x = ir.CreateAdd(ids[0], one);
  llvm::Value *isRowDone = ir.CreateICmpEQ(x, gridSize[0]);
  llvm::Value *y = ir.CreateAdd(ids[1], ir.CreateZExt(isRowDone, ir.getInt32Ty()));
  llvm::Value *isPlaneDone = ir.CreateICmpEQ(y, gridSize[1]);
  llvm::Value *nextIds[] = {ir.CreateSelect(isRowDone, zero, x), ir.CreateSelect(isPlaneDone, zero, y),
                            ir.CreateAdd(ids[2], ir.CreateZExt(isPlaneDone, ir.getInt32Ty()))};
  for (unsigned dim = 0; dim < 3; ++dim)
    ids[dim]->addIncoming(nextIds[dim], ir.GetInsertBlock());
  id->addIncoming(nextId, ir.GetInsertBlock());
  llvm::BasicBlock *last = newBlock("last");
  ir.CreateCondBr(ir.CreateICmpULT(nextId, end), program, last);
  ir.SetInsertPoint(last);
  endKeeping();
  ir.CreateBr(done);
  ir.SetInsertPoint(done);
  if (hasTiles)
    emitEndOfTiles(ir);
  if (needsFence) // other threads may read the stores as soon as this call has returned
    ir.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
  ir.CreateRetVoid();
  return success();
}

//--- scalars -------------------------------------------------------------------------------

llvm::Value *KernelEmitter::emitConstant(Value value) {
  Attribute attribute;
  if (isa_and_nonnull<ub::PoisonOp>(value.getDefiningOp()))
    return lanes.constant({}, value.getType(), 1);
  if (matchPattern(value, m_Constant(&attribute)))
    return lanes.constant(attribute, value.getType(), 1);
  return nullptr;
}

llvm::Value *KernelEmitter::scalar(Value value) {
  if (llvm::Value *known = scalars.lookup(value))
    return known;
  llvm::Value *constant = emitConstant(value);
  assert(constant && "a scalar is emitted before its uses");
  return constant;
}

llvm::Value *KernelEmitter::symbolValue(SymbolId symbol) {
  const Remainder *found = affineInfo.remainderOf(symbol);
  if (!found)
    return ir.CreateSExt(scalar(affineInfo.valueOf(symbol)), ir.getInt64Ty());
  const Remainder remainder = *found;
  llvm::Value *divisor = poly(remainder.divisor);
  divisor = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, divisor, ir.getInt64(1));
  return ir.CreateURem(poly(remainder.dividend), divisor);
}

llvm::Value *KernelEmitter::holds(ArrayRef<SymbolId> assumptions) {
  llvm::Value *all = ir.getTrue();
  for (SymbolId symbol : assumptions) {
    const Remainder remainder = *affineInfo.remainderOf(symbol);
    llvm::Value *dividend = poly(remainder.dividend), *divisor = poly(remainder.divisor);
    llvm::Value *last = ir.CreateAdd(symbolValue(symbol), ir.getInt64(remainder.extent));
    all = ir.CreateAnd(all, ir.CreateICmpSGE(dividend, ir.getInt64(0)));
    all = ir.CreateAnd(all, ir.CreateICmpSLE(last, divisor));
  }
  return all;
}

llvm::Value *KernelEmitter::poly(const Poly &poly, unsigned bits) {
  llvm::Type *type = ir.getIntNTy(bits);
  llvm::Value *sum = llvm::ConstantInt::get(type, 0);
  for (const Poly::Term &term : poly.terms()) {
    llvm::Value *product = llvm::ConstantInt::getSigned(type, term.coefficient);
    for (SymbolId symbol : term.factors)
      product = ir.CreateMul(product, ir.CreateSExt(symbolValue(symbol), type));
    sum = ir.CreateAdd(sum, product);
  }
  return sum;
}

/// The number of bits in which no addition of the terms wraps.
static unsigned bitsOf(AffineInfo &affineInfo, const Poly &poly) {
  const bool isNarrow = llvm::all_of(poly.terms(), [&](const Poly::Term &term) {
    return llvm::isInt<32>(term.coefficient) && term.factors.size() <= 1 &&
           llvm::all_of(term.factors, [&](SymbolId symbol) {
             return !affineInfo.remainderOf(symbol) && affineInfo.valueOf(symbol).getType().isInteger(32);
           });
  });
  return isNarrow ? 64 : 128;
}

llvm::Value *KernelEmitter::clamped(const Poly &poly, int64_t limit) {
  const unsigned bits = bitsOf(affineInfo, poly);
  llvm::Type *type = ir.getIntNTy(bits);
  llvm::Value *value = this->poly(poly, bits);
  value = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, llvm::ConstantInt::get(type, 0));
  value = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, llvm::ConstantInt::getSigned(type, limit));
  return ir.CreateTrunc(value, ir.getInt64Ty());
}

/// Whether an element of an affine tile overflows its type.
llvm::Value *KernelEmitter::wraps(Value side) {
  const AffineForm form = *affineInfo.affine(side);
  Type element = tt::elementOf(side.getType());
  const unsigned bits = 128, typeBits = isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth();
  llvm::Type *type = ir.getIntNTy(bits);
  llvm::Value *low = poly(form.base, bits), *high = low, *zero = llvm::ConstantInt::get(type, 0);
  for (auto [stride, extent] : llvm::zip_equal(form.strides, tt::shapeOf(side.getType()))) {
    if (stride.isZero())
      continue;
    llvm::Value *reach = ir.CreateMul(poly(stride, bits), llvm::ConstantInt::getSigned(type, extent - 1));
    low = ir.CreateAdd(low, ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, reach, zero));
    high = ir.CreateAdd(high, ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, reach, zero));
  }
  const llvm::APInt least = llvm::APInt::getSignedMinValue(typeBits).sext(bits);
  return ir.CreateOr(ir.CreateICmpSLT(low, ir.getInt(least)), ir.CreateICmpSGT(high, ir.getInt(~least)));
}

LogicalResult KernelEmitter::emitStraight(Operation *op) {
  SmallVector<llvm::Value *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(scalar(operand));
  auto results = lanes.emit(op, operands);
  if (results.empty())
    return failure();
  for (auto [value, emitted] : llvm::zip_equal(op->getResults(), results))
    define(value, emitted);
  return success();
}

LogicalResult KernelEmitter::emitScalarMemory(Operation *op) {
  if (auto store = dyn_cast<tt::StoreOp>(op)) {
    llvm::Value *value = scalar(store.getValue());
    if (store.getValue().getType().isInteger(1))
      value = ir.CreateZExt(value, ir.getInt8Ty());
    llvm::BasicBlock *write = newBlock("store"), *after = newBlock("stored");
    ir.CreateCondBr(store.getMask() ? scalar(store.getMask()) : ir.getTrue(), write, after);
    ir.SetInsertPoint(write);
    ir.CreateStore(value, scalar(store.getPtr()));
    ir.CreateBr(after);
    ir.SetInsertPoint(after);
    return success();
  }
  auto load = cast<tt::LoadOp>(op);
  llvm::Type *type = lanes.memoryType(load.getType());
  auto read = [&] {
    llvm::LoadInst *value = ir.CreateLoad(type, scalar(load.getPtr()), load.getIsVolatile());
    return load.getType().isInteger(1) ? ir.CreateTrunc(value, ir.getInt1Ty()) : static_cast<llvm::Value *>(value);
  };
  if (!load.getMask()) {
    define(load.getResult(), read());
    return success();
  }
  llvm::Value *other = load.getOther() ? scalar(load.getOther()) : lanes.constant({}, load.getType(), 1);
  llvm::BasicBlock *before = ir.GetInsertBlock(), *inside = newBlock("load"), *after = newBlock("loaded");
  ir.CreateCondBr(scalar(load.getMask()), inside, after);
  ir.SetInsertPoint(inside);
  llvm::Value *value = read();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  llvm::PHINode *merged = ir.CreatePHI(value->getType(), 2);
  merged->addIncoming(other, before);
  merged->addIncoming(value, inside);
  define(load.getResult(), merged);
  return success();
}

void KernelEmitter::emitScalarAtomic(tt::MemoryAccessOpInterface op) {
  auto swap = dyn_cast<tt::AtomicCASOp>(*op);
  Value value = op.getStoredValue(), result = op->getNumResults() ? Value(op->getResult(0)) : Value();
  auto access = [&] {
    return emitAtomic(ir, lanes, op, scalar(op.getAccessedPointer()),
                      {value ? scalar(value) : nullptr, swap ? scalar(swap.getCmp()) : nullptr});
  };
  Value mask = op.getAccessMask();
  if (!mask) {
    llvm::Value *old = access();
    if (result)
      define(result, old);
    return;
  }
  llvm::BasicBlock *before = ir.GetInsertBlock(), *inside = newBlock("atomic"), *after = newBlock("done");
  ir.CreateCondBr(scalar(mask), inside, after);
  ir.SetInsertPoint(inside);
  llvm::Value *old = access();
  inside = ir.GetInsertBlock();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  if (!result)
    return;
  llvm::PHINode *merged = ir.CreatePHI(old->getType(), 2);
  merged->addIncoming(lanes.constant({}, result.getType(), 1), before);
  merged->addIncoming(old, inside);
  define(result, merged);
}

LogicalResult KernelEmitter::emitScalar(Operation *op) {
  setLocation(op->getLoc());
  if (auto access = dyn_cast<tt::MemoryAccessOpInterface>(op); access && access.isAtomic()) {
    emitScalarAtomic(access);
    emitArrival(op);
    return success();
  }
  if (isa<tt::StoreOp, tt::LoadOp>(op))
    return emitScalarMemory(op);
  if (auto print = dyn_cast<tt::PrintOp>(op)) {
    emitPrint(print);
    return success();
  }
  if (auto assertion = dyn_cast<tt::AssertOp>(op)) {
    emitAssert(assertion);
    return success();
  }
  if (auto check = dyn_cast<check::ValuesOp>(op)) {
    emitCheck(check);
    return success();
  }
  if (isa<ttg::BarrierOp>(op)) // a program is one thread
    return success();
  if (op->getName().getStringRef() == "llvm.intr.assume") {
    ir.CreateAssumption(scalar(op->getOperand(0)));
    return success();
  }
  if (auto id = dyn_cast<tt::GetProgramIdOp>(op)) {
    define(id.getResult(), programId[static_cast<unsigned>(id.getAxis())]);
    return success();
  }
  if (auto count = dyn_cast<tt::GetNumProgramsOp>(op)) {
    define(count.getResult(), gridSize[static_cast<unsigned>(count.getAxis())]);
    return success();
  }
  if (op->getNumResults() == 1)
    if (llvm::Value *constant = emitConstant(op->getResult(0))) {
      define(op->getResult(0), constant);
      return success();
    }
  return emitStraight(op);
}

//--- steps ---------------------------------------------------------------------------------

LogicalResult KernelEmitter::emitSequence(const Sequence &sequence) {
  for (const Step &step : sequence.steps)
    if (failed(emitStep(step)))
      return failure();
  return success();
}

/// Emits two versions of one nest. The scalars that it defines are merged after them.
LogicalResult KernelEmitter::emitVersions(llvm::Value *condition, const Nest &nest,
                                          llvm::function_ref<LogicalResult()> whenTrue,
                                          llvm::function_ref<LogicalResult()> whenFalse) {
  llvm::BasicBlock *sides[] = {newBlock("version"), newBlock("version")}, *after = newBlock("version.end");
  ir.CreateCondBr(condition, sides[0], sides[1]);
  SmallVector<Value> results;
  for (const Root &root : nest.roots)
    if (root.kind == RootKind::Op)
      llvm::copy_if(root.op->getResults(), std::back_inserter(results),
                    [](Value value) { return !isa<RankedTensorType>(value.getType()); });
  SmallVector<llvm::PHINode *> phis;
  const llvm::DenseSet<Value> readyBefore = ready;
  for (unsigned side : {0, 1}) {
    ir.SetInsertPoint(sides[side]);
    ready = readyBefore; // buffers that one version of a nest writes are not ready in the other
    if (failed(side == 0 ? whenTrue() : whenFalse()))
      return failure();
    llvm::BasicBlock *end = ir.GetInsertBlock();
    ir.CreateBr(after);
    for (auto [index, value] : llvm::enumerate(results)) {
      if (side == 0)
        phis.push_back(llvm::PHINode::Create(scalar(value)->getType(), 2, "", after));
      phis[index]->addIncoming(scalar(value), end);
    }
  }
  for (auto [value, phi] : llvm::zip_equal(results, phis))
    define(value, phi);
  ir.SetInsertPoint(after);
  return success();
}

LogicalResult KernelEmitter::emitPeeled(Nest &nest) {
  if (!nest.peeledLoop)
    return NestEmitter(*this, nest).run();
  auto loop = cast<scf::ForOp>(nest.peeledLoop);
  setLocation(loop.getLoc());
  llvm::Value *isFirst = ir.CreateICmpEQ(scalar(loop.getInductionVar()), scalar(loop.getLowerBound()));
  auto first = [&] {
    for (auto &[tile, constant] : nest.initial)
      initial[tile] = constant;
    LogicalResult result = NestEmitter(*this, nest).run();
    initial.clear();
    return result;
  };
  return emitVersions(isFirst, nest, first, [&] { return NestEmitter(*this, nest).run(); });
}

/// Whether an addition that one of the nest's masks compares overflows its type; null where none can.
llvm::Value *KernelEmitter::anyWraps(const Nest &nest) {
  llvm::Value *any = nullptr;
  llvm::SmallPtrSet<Operation *, 2> seen;
  for (const NestMask &mask : nest.masks)
    if (mask.prefix.mayWrap && seen.insert(mask.compare.getDefiningOp()).second)
      for (Value side : mask.compare.getDefiningOp()->getOperands()) {
        llvm::Value *hasWrapped = wraps(side);
        any = any ? ir.CreateOr(any, hasWrapped) : hasWrapped;
      }
  return any;
}

/// Tests before the nest whether compared additions wrap: one version of the nest then compares exactly.
LogicalResult KernelEmitter::emitExactOrNot(Nest &nest, llvm::Value *anyWraps) {
  if (!anyWraps)
    return emitCopiedOrNot(nest);
  auto exact = [&] {
    Nest copy = nest;
    llvm::erase_if(copy.masks, [](const NestMask &mask) { return mask.prefix.mayWrap; });
    affineInfo.setExact(true);
    LogicalResult result = emitPeeled(copy);
    affineInfo.setExact(false);
    return result;
  };
  return emitVersions(anyWraps, nest, exact, [&] { return emitCopiedOrNot(nest); });
}

LogicalResult KernelEmitter::emitTransposedOrNot(Nest &nest) {
  const bool isTransposed = llvm::any_of(nest.roots, [](const Root &root) { return root.staging.has_value(); });
  return isTransposed ? emitTransposed(nest, anyWraps(nest)) : emitExactOrNot(nest, anyWraps(nest));
}

LogicalResult KernelEmitter::emitNest(Nest &nest) {
  if (nest.kept)
    return emitUnlessKept(nest);
  return nest.inPlace ? emitUnlessInPlace(nest, anyWraps(nest)) : emitTransposedOrNot(nest);
}

LogicalResult KernelEmitter::emitStep(const Step &step) {
  switch (step.kind) {
  case StepKind::Scalar:
    return emitScalar(step.op);
  case StepKind::Nest:
    return emitNest(*step.nest);
  case StepKind::Guard:
    return emitGuard(step);
  case StepKind::Dot:
    setLocation(step.op->getLoc());
    emitDot(*this, step);
    setReady(step.op->getResult(0));
    return success();
  case StepKind::Control:
    setLocation(step.op->getLoc());
    if (isa<scf::ForOp>(step.op))
      return emitFor(step);
    if (isa<scf::WhileOp>(step.op))
      return emitWhile(step);
    if (isa<scf::IfOp>(step.op))
      return emitIf(step);
    return emitSwitch(step);
  }
  llvm_unreachable("all kinds are listed");
}
