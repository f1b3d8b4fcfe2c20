// Implements TargetEmitter for this machine, for tests.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/HostEmitter.h"

#include "test/unit/lowering/Fibers.h"

using namespace nereid;
using namespace nereid::simt;
using lowering::GlobalAccess;
using lowering::WarpReduction;

//--- runtime functions ---------------------------------------------------------------------

static uint32_t programIdOf(uint32_t axis) { return Block::current().programId(axis); }
static uint32_t numProgramsOf(uint32_t axis) { return Block::current().numPrograms(axis); }
static uint32_t threadOf() { return Block::current().thread(); }
static void meet() { Block::current().barrier(); }
static void syncBarrier(uint32_t id, uint32_t numThreads) { Block::current().syncBarrier(id, numThreads); }
static void syncWarp() { Block::current().exchange(0); }
static uint32_t clusterRankOf() { return Block::current().rankInCluster(); }
static void arriveAtCluster() { Block::current().arriveAtCluster(); }
static void waitForCluster() { Block::current().waitForCluster(); }
static char *sharedOfCta(char *pointer, uint32_t rank) { return Block::current().sharedOfCta(pointer, rank); }
static uint32_t fromLaneXor(uint32_t word, uint32_t mask) {
  return Block::current().exchange(word)[(Block::current().thread() % 32) ^ mask];
}
static uint32_t fromLane(uint32_t word, uint32_t lane) { return Block::current().exchange(word)[lane]; }
static uint32_t overLanes(uint32_t word, uint32_t kind) {
  const std::vector<uint32_t> words = Block::current().exchange(word);
  uint32_t result = words.front();
  for (uint32_t other : llvm::ArrayRef(words).drop_front()) {
    const auto a = static_cast<int32_t>(result), b = static_cast<int32_t>(other);
    switch (static_cast<WarpReduction>(kind)) {
    case WarpReduction::Add:
      result += other;
      break;
    case WarpReduction::MinSigned:
      result = static_cast<uint32_t>(std::min(a, b));
      break;
    case WarpReduction::MaxSigned:
      result = static_cast<uint32_t>(std::max(a, b));
      break;
    case WarpReduction::MinUnsigned:
      result = std::min(result, other);
      break;
    case WarpReduction::MaxUnsigned:
      result = std::max(result, other);
      break;
    case WarpReduction::And:
      result &= other;
      break;
    case WarpReduction::Or:
      result |= other;
      break;
    case WarpReduction::Xor:
      result ^= other;
      break;
    }
  }
  return result;
}

static void startCopy(char *target, const char *source, uint32_t bytes, uint32_t sourceBytes) {
  Block::current().startCopy({target, source, bytes, sourceBytes});
}
static void storeWord(char *row, uint32_t offset, uint32_t word, uint32_t bytes) {
  std::memcpy(row + offset, &word, bytes);
}
static void commitCopies() { Block::current().commitCopies(); }
static uint32_t waitForCopies(uint32_t numPending) {
  Block::current().waitForCopies(numPending);
  return 0;
}

llvm::ArrayRef<HostFunction> simt::hostFunctions() {
  static const HostFunction functions[] = {
      {"simt_program_id", reinterpret_cast<void *>(&programIdOf)},
      {"simt_num_programs", reinterpret_cast<void *>(&numProgramsOf)},
      {"simt_thread", reinterpret_cast<void *>(&threadOf)},
      {"simt_barrier", reinterpret_cast<void *>(&meet)},
      {"simt_sync_barrier", reinterpret_cast<void *>(&syncBarrier)},
      {"simt_sync_warp", reinterpret_cast<void *>(&syncWarp)},
      {"simt_cluster_rank", reinterpret_cast<void *>(&clusterRankOf)},
      {"simt_cluster_arrive", reinterpret_cast<void *>(&arriveAtCluster)},
      {"simt_cluster_wait", reinterpret_cast<void *>(&waitForCluster)},
      {"simt_shared_of_cta", reinterpret_cast<void *>(&sharedOfCta)},
      {"simt_shuffle_xor", reinterpret_cast<void *>(&fromLaneXor)},
      {"simt_shuffle_index", reinterpret_cast<void *>(&fromLane)},
      {"simt_reduce", reinterpret_cast<void *>(&overLanes)},
      {"simt_store_word", reinterpret_cast<void *>(&storeWord)},
      {"simt_start_copy", reinterpret_cast<void *>(&startCopy)},
      {"simt_commit_copies", reinterpret_cast<void *>(&commitCopies)},
      {"simt_wait_for_copies", reinterpret_cast<void *>(&waitForCopies)},
  };
  return functions;
}

//--- calls ---------------------------------------------------------------------------------

llvm::Value *HostEmitter::call(IrBuilder &ir, const char *name, llvm::ArrayRef<llvm::Value *> arguments,
                               bool hasResult) {
  llvm::SmallVector<llvm::Type *> types(arguments.size(), ir.getInt32Ty());
  auto *type = llvm::FunctionType::get(hasResult ? ir.getInt32Ty() : ir.getVoidTy(), types, false);
  llvm::FunctionCallee callee = ir.GetInsertBlock()->getModule()->getOrInsertFunction(name, type);
  llvm::CallInst *made = ir.CreateCall(callee, arguments);
  made->addFnAttr(llvm::Attribute::Convergent);
  made->addFnAttr(llvm::Attribute::NoDuplicate);
  return made;
}

llvm::Value *HostEmitter::programId(IrBuilder &ir, unsigned axis) {
  return call(ir, "simt_program_id", {ir.getInt32(axis)});
}
llvm::Value *HostEmitter::numPrograms(IrBuilder &ir, unsigned axis) {
  return call(ir, "simt_num_programs", {ir.getInt32(axis)});
}
llvm::Value *HostEmitter::threadId(IrBuilder &ir, unsigned) { return call(ir, "simt_thread", {}); }
void HostEmitter::barrier(IrBuilder &ir, const lowering::BarrierScope &scope) {
  ++barriers;
  if (scope.numThreads)
    call(ir, "simt_sync_barrier", {ir.getInt32(scope.id), ir.getInt32(scope.numThreads)}, /*hasResult=*/false);
  else
    call(ir, "simt_barrier", {}, /*hasResult=*/false);
}
void HostEmitter::syncWarp(IrBuilder &ir) { call(ir, "simt_sync_warp", {}, /*hasResult=*/false); }
llvm::Value *HostEmitter::clusterRank(IrBuilder &ir) { return call(ir, "simt_cluster_rank", {}); }
void HostEmitter::arriveAtCluster(IrBuilder &ir) { call(ir, "simt_cluster_arrive", {}, /*hasResult=*/false); }
void HostEmitter::waitForCluster(IrBuilder &ir) { call(ir, "simt_cluster_wait", {}, /*hasResult=*/false); }
llvm::Value *HostEmitter::sharedOfCta(IrBuilder &ir, llvm::Value *pointer, llvm::Value *rank) {
  auto *type = llvm::FunctionType::get(ir.getPtrTy(), {ir.getPtrTy(), ir.getInt32Ty()}, false);
  llvm::Module *module = ir.GetInsertBlock()->getModule();
  return ir.CreateCall(module->getOrInsertFunction("simt_shared_of_cta", type),
                       {ir.CreateAddrSpaceCast(pointer, ir.getPtrTy()), rank});
}
llvm::Value *HostEmitter::shuffleXor(IrBuilder &ir, llvm::Value *word, unsigned laneMask) {
  return call(ir, "simt_shuffle_xor", {word, ir.getInt32(laneMask)});
}
llvm::Value *HostEmitter::shuffleIndex(IrBuilder &ir, llvm::Value *word, llvm::Value *lane) {
  return call(ir, "simt_shuffle_index", {word, lane});
}
llvm::Value *HostEmitter::reduceWarp(IrBuilder &ir, WarpReduction kind, llvm::Value *word) {
  return call(ir, "simt_reduce", {word, ir.getInt32(static_cast<uint32_t>(kind))});
}

//--- output --------------------------------------------------------------------------------

void HostEmitter::print(IrBuilder &ir, llvm::StringRef format, llvm::ArrayRef<llvm::Value *> values) {
  auto *type = llvm::FunctionType::get(ir.getInt32Ty(), {ir.getPtrTy()}, /*isVarArg=*/true);
  llvm::SmallVector<llvm::Value *> arguments = {ir.CreateGlobalString(format)};
  arguments.append(values.begin(), values.end());
  ir.CreateCall(ir.GetInsertBlock()->getModule()->getOrInsertFunction("printf", type), arguments);
}

/// Reports the failure and continues.
void HostEmitter::fail(IrBuilder &ir, const lowering::Failure &failure) {
  print(ir, "%s:%u: %s\n",
        {ir.CreateGlobalString(failure.file), ir.getInt32(failure.line), ir.CreateGlobalString(failure.message)});
}

//--- matrices ------------------------------------------------------------------------------

/// The numbers in a word, in the accumulator's type.
static llvm::SmallVector<llvm::Value *, 4> numbersIn(lowering::IrBuilder &ir, ttng::MmaKind kind, llvm::Value *word,
                                                     llvm::Type *sum) {
  llvm::Type *type = nullptr;
  switch (kind) {
  case ttng::MmaKind::F16:
    type = ir.getHalfTy();
    break;
  case ttng::MmaKind::BF16:
    type = ir.getBFloatTy();
    break;
  case ttng::MmaKind::TF32:
    type = ir.getFloatTy();
    break;
  case ttng::MmaKind::Int8:
    type = ir.getInt8Ty();
    break;
  case ttng::MmaKind::F64:
    return {word};
  }
  const unsigned count = 32 / type->getPrimitiveSizeInBits();
  llvm::Value *list = ir.CreateBitCast(word, llvm::FixedVectorType::get(type, count));
  llvm::SmallVector<llvm::Value *, 4> numbers;
  for (unsigned index = 0; index < count; ++index) {
    llvm::Value *number = ir.CreateExtractElement(list, uint64_t{index});
    numbers.push_back(type->isIntegerTy() ? ir.CreateSExt(number, sum) : ir.CreateFPExt(number, sum));
  }
  return numbers;
}

/// By definition: every accumulator is computed from the words of the lanes of its row and of its column.
llvm::SmallVector<llvm::Value *, 4> HostEmitter::emitMma(IrBuilder &ir, ttng::MmaKind kind,
                                                         llvm::ArrayRef<llvm::Value *> a,
                                                         llvm::ArrayRef<llvm::Value *> b,
                                                         llvm::ArrayRef<llvm::Value *> accumulators) {
  llvm::Value *lane = ir.CreateURem(call(ir, "simt_thread", {}), ir.getInt32(32));
  llvm::Value *group = ir.CreateUDiv(lane, ir.getInt32(4)), *column = ir.CreateURem(lane, ir.getInt32(4));
  auto from = [&](llvm::Value *word, llvm::Value *source) -> llvm::Value * {
    if (word->getType()->isIntegerTy(32))
      return shuffleIndex(ir, word, source);
    llvm::Value *halves = ir.CreateBitCast(word, llvm::FixedVectorType::get(ir.getInt32Ty(), 2));
    for (uint64_t half : {0, 1})
      halves = ir.CreateInsertElement(halves, shuffleIndex(ir, ir.CreateExtractElement(halves, half), source), half);
    return ir.CreateBitCast(halves, word->getType());
  };
  llvm::SmallVector<llvm::Value *, 4> results(accumulators);
  for (unsigned rows : {0, 1})
    for (unsigned next : {0, 1}) {
      llvm::Value *&sum = results[2 * rows + next];
      llvm::Value *n = ir.CreateAdd(ir.CreateMul(column, ir.getInt32(2)), ir.getInt32(next));
      for (unsigned half : {0, 1})
        for (unsigned k = 0; k < 4; ++k) {
          llvm::Value *left =
              from(a[2 * half + rows], ir.CreateAdd(ir.CreateMul(group, ir.getInt32(4)), ir.getInt32(k)));
          llvm::Value *right = from(b[half], ir.CreateAdd(ir.CreateMul(n, ir.getInt32(4)), ir.getInt32(k)));
          for (auto [x, y] :
               llvm::zip_equal(numbersIn(ir, kind, left, sum->getType()), numbersIn(ir, kind, right, sum->getType())))
            sum = sum->getType()->isIntegerTy() ? ir.CreateAdd(sum, ir.CreateMul(x, y))
                                                : ir.CreateFAdd(sum, ir.CreateFMul(x, y));
        }
    }
  return results;
}

llvm::Value *HostEmitter::roundToTf32(IrBuilder &ir, llvm::Value *single) {
  llvm::Value *bits = ir.CreateBitCast(single, ir.getInt32Ty());
  llvm::Value *rounded = ir.CreateAnd(ir.CreateAdd(bits, ir.getInt32(0x1000)), ir.getInt32(0xffffe000));
  return ir.CreateBitCast(rounded, ir.getFloatTy());
}

/// Accesses are of vectors, which have masked forms, with the alignment that a GPU requires.
static llvm::Value *address(lowering::IrBuilder &ir, llvm::Value *pointer, int64_t offset) {
  return ir.CreatePtrAdd(pointer, ir.getInt64(offset));
}

static llvm::Value *gathered(lowering::IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words) {
  llvm::Value *all = llvm::PoisonValue::get(llvm::FixedVectorType::get(words.front()->getType(), words.size()));
  for (unsigned index = 0; index < words.size(); ++index)
    all = ir.CreateInsertElement(all, words[index], uint64_t{index});
  return all;
}

static llvm::Align alignment(llvm::Type *word, unsigned count) {
  return llvm::Align(word->getIntegerBitWidth() / 8 * count);
}

llvm::SmallVector<llvm::Value *, 4> HostEmitter::loadGlobal(IrBuilder &ir, const GlobalAccess &access,
                                                            llvm::ArrayRef<llvm::Value *> others) {
  auto *type = llvm::FixedVectorType::get(access.wordType, access.numWords);
  llvm::Value *from = address(ir, access.pointer, access.byteOffset), *all;
  if (access.mask)
    all = ir.CreateMaskedLoad(type, from, alignment(access.wordType, access.numWords),
                              ir.CreateVectorSplat(access.numWords, access.mask), gathered(ir, others));
  else
    all = ir.CreateAlignedLoad(type, from, alignment(access.wordType, access.numWords), access.isVolatile);
  llvm::SmallVector<llvm::Value *, 4> words;
  for (unsigned index = 0; index < access.numWords; ++index)
    words.push_back(ir.CreateExtractElement(all, uint64_t{index}));
  return words;
}

static void store(lowering::IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *to, llvm::Value *mask) {
  const llvm::Align aligned = alignment(words.front()->getType(), words.size());
  if (mask)
    ir.CreateMaskedStore(gathered(ir, words), to, aligned, ir.CreateVectorSplat(words.size(), mask));
  else
    ir.CreateAlignedStore(gathered(ir, words), to, aligned);
}

void HostEmitter::storeGlobal(IrBuilder &ir, const GlobalAccess &access, llvm::ArrayRef<llvm::Value *> words) {
  store(ir, words, address(ir, access.pointer, access.byteOffset), access.mask);
}

void HostEmitter::storeShared(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *pointer,
                              int64_t byteOffset, llvm::Value *mask) {
  store(ir, words, address(ir, pointer, byteOffset), mask);
}

//--- ldmatrix, stmatrix, asynchronous copies -----------------------------------------------

/// By definition: each lane reads the row addresses from the lanes that give them.
llvm::SmallVector<llvm::Value *, 8> HostEmitter::ldmatrix(IrBuilder &ir, llvm::Value *row, int64_t byteOffset,
                                                          unsigned count, bool isTransposed) {
  ++matrixLoads;
  llvm::Value *lane = ir.CreateURem(call(ir, "simt_thread", {}), ir.getInt32(32));
  llvm::Value *base = ir.CreatePtrToInt(address(ir, row, byteOffset), ir.getInt64Ty());
  llvm::Value *low = ir.CreateTrunc(base, ir.getInt32Ty()),
              *high = ir.CreateTrunc(ir.CreateLShr(base, 32), ir.getInt32Ty());
  auto loadFrom = [&](llvm::Type *type, llvm::Value *source, llvm::Value *offset) {
    auto half = [&](llvm::Value *word) { return ir.CreateZExt(shuffleIndex(ir, word, source), ir.getInt64Ty()); };
    llvm::Value *begin = ir.CreateOr(half(low), ir.CreateShl(half(high), 32));
    begin = ir.CreateAdd(begin, ir.CreateZExt(offset, ir.getInt64Ty()));
    return ir.CreateLoad(type, ir.CreateIntToPtr(begin, row->getType()));
  };
  llvm::Value *quad = ir.CreateUDiv(lane, ir.getInt32(4)), *inQuad = ir.CreateURem(lane, ir.getInt32(4));
  llvm::SmallVector<llvm::Value *, 8> words;
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    llvm::Value *first = ir.getInt32(8 * matrix);
    if (!isTransposed) {
      words.push_back(loadFrom(ir.getInt32Ty(), ir.CreateAdd(first, quad), ir.CreateMul(inQuad, ir.getInt32(4))));
      continue;
    }
    llvm::Value *word = ir.getInt32(0);
    for (unsigned part : {0, 1}) {
      llvm::Value *source = ir.CreateAdd(first, ir.CreateAdd(ir.CreateMul(inQuad, ir.getInt32(2)), ir.getInt32(part)));
      llvm::Value *element = loadFrom(ir.getInt16Ty(), source, ir.CreateMul(quad, ir.getInt32(2)));
      word = ir.CreateOr(word, ir.CreateShl(ir.CreateZExt(element, ir.getInt32Ty()), 16 * part));
    }
    words.push_back(word);
  }
  return words;
}

/// By definition: each lane stores its words to the rows whose addresses other lanes give.
void HostEmitter::stmatrix(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *row, int64_t byteOffset,
                           bool isTransposed) {
  ++matrixStores;
  llvm::Value *lane = ir.CreateURem(call(ir, "simt_thread", {}), ir.getInt32(32));
  llvm::Value *base = ir.CreatePtrToInt(address(ir, row, byteOffset), ir.getInt64Ty());
  llvm::Value *low = ir.CreateTrunc(base, ir.getInt32Ty()),
              *high = ir.CreateTrunc(ir.CreateLShr(base, 32), ir.getInt32Ty());
  auto *type = llvm::FunctionType::get(ir.getVoidTy(),
                                       {ir.getPtrTy(), ir.getInt32Ty(), ir.getInt32Ty(), ir.getInt32Ty()}, false);
  llvm::FunctionCallee store = ir.GetInsertBlock()->getModule()->getOrInsertFunction("simt_store_word", type);
  auto storeTo = [&](llvm::Value *source, llvm::Value *offset, llvm::Value *word, unsigned bytes) {
    auto half = [&](llvm::Value *part) { return ir.CreateZExt(shuffleIndex(ir, part, source), ir.getInt64Ty()); };
    llvm::Value *begin = ir.CreateOr(half(low), ir.CreateShl(half(high), 32));
    ir.CreateCall(store, {ir.CreateIntToPtr(begin, ir.getPtrTy()), offset, word, ir.getInt32(bytes)});
  };
  llvm::Value *quad = ir.CreateUDiv(lane, ir.getInt32(4)), *inQuad = ir.CreateURem(lane, ir.getInt32(4));
  for (auto [matrix, word] : llvm::enumerate(words)) {
    llvm::Value *first = ir.getInt32(8 * matrix);
    if (!isTransposed) {
      storeTo(ir.CreateAdd(first, quad), ir.CreateMul(inQuad, ir.getInt32(4)), word, 4);
      continue;
    }
    for (unsigned part : {0, 1})
      storeTo(ir.CreateAdd(first, ir.CreateAdd(ir.CreateMul(inQuad, ir.getInt32(2)), ir.getInt32(part))),
              ir.CreateMul(quad, ir.getInt32(2)), ir.CreateLShr(word, 16 * part), 2);
  }
}

void HostEmitter::copyAsync(IrBuilder &ir, const lowering::AsyncCopy &copy) {
  ++copies;
  llvm::Value *target = address(ir, copy.target, copy.targetOffset),
              *source = address(ir, copy.source, copy.sourceOffset);
  llvm::Value *bytes = ir.getInt32(copy.bytes);
  llvm::Value *arguments[] = {ir.CreateAddrSpaceCast(target, ir.getPtrTy()),
                              ir.CreateAddrSpaceCast(source, ir.getPtrTy()), bytes,
                              copy.mask ? ir.CreateSelect(copy.mask, bytes, ir.getInt32(0)) : bytes};
  auto *type =
      llvm::FunctionType::get(ir.getVoidTy(), {ir.getPtrTy(), ir.getPtrTy(), ir.getInt32Ty(), ir.getInt32Ty()}, false);
  ir.CreateCall(ir.GetInsertBlock()->getModule()->getOrInsertFunction("simt_start_copy", type), arguments);
}
void HostEmitter::commitCopies(IrBuilder &ir) { call(ir, "simt_commit_copies", {}, /*hasResult=*/false); }
void HostEmitter::waitForCopies(IrBuilder &ir, unsigned numPending) {
  call(ir, "simt_wait_for_copies", {ir.getInt32(numPending)});
}
