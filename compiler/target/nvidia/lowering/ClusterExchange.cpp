// Emits exchanges between the CTAs of a cluster: each writes its own shared memory, then reads that of others.
//
// A barrier of the cluster separates the writes from the reads. Another one follows the reads, at the op's end or
// later: then the buffer may be written again, and CTAs may exit.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/layout/Distributed.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"

#include "compiler/analysis/MemoryAccess.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using namespace nereid::nvidia;
using layout::LinearLayout;

namespace {
/// The parts of one tile, in the shared memory of the cluster's CTAs.
class PartsBuffer {
public:
  PartsBuffer(TtgFunctionEmitter &emitter, llvm::Value *begin, RankedTensorType part, unsigned dim)
      : emitter(emitter), begin(begin), part(part), dim(dim), elementBytes(tt::storageBytes(part.getElementType())) {}

  uint32_t bytes() const { return part.getNumElements() * elementBytes; }
  void storePart(const Tile &registers);
  Tile loadAll(RankedTensorType whole);

private:
  LinearLayout rowMajor(ArrayRef<int64_t> extents, unsigned numCtas) const;
  llvm::Value *threadPart(const layout::SharedAccessPattern &pattern, llvm::function_ref<uint32_t(uint32_t)> partOf);

  TtgFunctionEmitter &emitter;
  llvm::Value *begin;
  RankedTensorType part;
  unsigned dim, elementBytes;
};
} // namespace

/// Loads adjacent elements of up to 16 bytes in total.
static Tile loadElements(TtgFunctionEmitter &emitter, llvm::Value *pointer, Type element, unsigned count) {
  IrBuilder &ir = emitter.ir;
  const unsigned bytes = tt::storageBytes(element, count);
  const unsigned wordBytes = std::min(bytes, std::max(4u, tt::storageBytes(element)));
  llvm::Type *word = ir.getIntNTy(wordBytes * 8);
  Tile words;
  if (wordBytes == bytes) {
    words.push_back(ir.CreateAlignedLoad(word, pointer, llvm::Align(bytes)));
  } else {
    auto *type = llvm::FixedVectorType::get(word, bytes / wordBytes);
    llvm::Value *all = ir.CreateAlignedLoad(type, pointer, llvm::Align(bytes));
    for (unsigned index = 0; index < type->getNumElements(); ++index)
      words.push_back(ir.CreateExtractElement(all, uint64_t{index}));
  }
  return emitter.unpack(words, element, count);
}

/// Elements of a part in row-major order; those of CTA r follow those of CTA r - 1.
LinearLayout PartsBuffer::rowMajor(ArrayRef<int64_t> extents, unsigned numCtas) const {
  std::vector<LinearLayout::Input> inputs = {{layout::kOffset.str(), {}}, {layout::kBlock.str(), {}}};
  std::vector<LinearLayout::Output> outputs;
  auto add = [&](unsigned own, int64_t first, int64_t end) {
    for (int64_t step = first; step < end; step *= 2) {
      LinearLayout::Coordinates basis(extents.size(), 0);
      basis[own] = int32_t(step);
      inputs[0].bases.push_back(basis);
    }
  };
  for (unsigned own = extents.size(); own-- > 0;)
    add(own, 1, extents[own]);
  add(dim, extents[dim], extents[dim] * numCtas);
  for (auto [own, extent] : llvm::enumerate(extents))
    outputs.push_back({layout::dimName(own), int32_t(extent * (own == dim ? numCtas : 1))});
  return LinearLayout::fromBases(inputs, outputs);
}

void PartsBuffer::storePart(const Tile &registers) {
  const auto pattern = layout::planSharedAccesses(ttg::linearLayoutOf(part), rowMajor(part.getShape(), 1), elementBytes,
                                                  analysis::kWidestAccessBytes / elementBytes);
  emitter.storeShared(begin, pattern, 0, registers);
}

/// The sum of what `partOf` takes of the thread's offsets, which are in elements.
llvm::Value *PartsBuffer::threadPart(const layout::SharedAccessPattern &pattern,
                                     llvm::function_ref<uint32_t(uint32_t)> partOf) {
  auto parts = [&](ArrayRef<uint32_t> bases) { return llvm::map_to_vector(bases, partOf); };
  return emitter.threadBits(parts(pattern.laneBases), parts(pattern.warpBases));
}

Tile PartsBuffer::loadAll(RankedTensorType whole) {
  IrBuilder &ir = emitter.ir;
  const unsigned numCtas = whole.getNumElements() / part.getNumElements(), size = part.getNumElements();
  const LinearLayout &held = ttg::linearLayoutOf(whole);
  const unsigned most = std::min(analysis::kWidestAccessBytes / elementBytes, size);
  const auto pattern = layout::planSharedAccesses(held, rowMajor(part.getShape(), numCtas), elementBytes, most);
  llvm::Value *threadRank = threadPart(pattern, [&](uint32_t basis) { return basis / size; });
  llvm::Value *threadOffset = threadPart(pattern, [&](uint32_t basis) { return basis % size * elementBytes; });
  Tile registers(numRegisters(whole), nullptr);
  for (const layout::SharedAccess &access : pattern.accesses) {
    llvm::Value *offset = ir.CreateXor(threadOffset, ir.getInt32(access.offset % size * elementBytes));
    llvm::Value *rank = ir.CreateXor(threadRank, ir.getInt32(access.offset / size));
    llvm::Value *pointer = instructionsOf(emitter).sharedOfCta(ir, ir.CreatePtrAdd(begin, offset), rank);
    const Tile elements = loadElements(emitter, pointer, whole.getElementType(), access.registers.size());
    for (auto [index, value] : llvm::zip_equal(access.registers, elements))
      registers[index] = value;
  }
  const uint32_t copies = held.freeVariableMask(layout::kRegister);
  for (unsigned index = 0; index < registers.size(); ++index)
    registers[index] = registers[index & ~copies];
  return registers;
}

static void emitFullBarrier(TtgFunctionEmitter &emitter) {
  instructionsOf(emitter).arriveAtCluster(emitter.ir);
  instructionsOf(emitter).waitForCluster(emitter.ir);
}

/// The barrier after the reads, as far as it is the op's.
template <typename Op> static void endExchange(TtgFunctionEmitter &emitter, Op op) {
  if (op.getArrives())
    instructionsOf(emitter).arriveAtCluster(emitter.ir);
  else if (!op.getOpen())
    emitFullBarrier(emitter);
}

static LogicalResult emitGather(TtgFunctionEmitter &emitter, ttng::ClusterGatherOp op) {
  SmallVector<PartsBuffer> buffers;
  uint32_t offset = 0;
  for (Value part : op.getParts()) {
    offset = llvm::alignTo(offset, 16);
    PartsBuffer &buffer = buffers.emplace_back(emitter, emitter.sharedScratch(op, offset),
                                               cast<RankedTensorType>(part.getType()), op.getDim());
    buffer.storePart(emitter.tile(part));
    offset += buffer.bytes();
  }
  emitFullBarrier(emitter);
  for (auto [buffer, result] : llvm::zip_equal(buffers, op.getResults()))
    emitter.define(result, buffer.loadAll(cast<RankedTensorType>(result.getType())));
  endExchange(emitter, op);
  return success();
}

/// Threads of all CTAs hold the same elements in the same registers; a scalar is in all threads.
static LogicalResult emitBroadcast(TtgFunctionEmitter &emitter, ttng::ClusterBroadcastOp op) {
  IrBuilder &ir = emitter.ir;
  const Type element = tt::elementOf(op.getType());
  const bool isTile = isa<RankedTensorType>(op.getType());
  const unsigned bytes = tt::storageBytes(element), stride = isTile ? bytes * emitter.numThreads : bytes;
  llvm::Value *own = emitter.sharedScratch(op);
  if (isTile)
    own = ir.CreatePtrAdd(own, ir.CreateMul(emitter.thread(), ir.getInt32(bytes)));
  const Tile registers = emitter.tile(op.getSrc());
  for (auto [index, value] : llvm::enumerate(registers))
    emitter.target.storeShared(ir, emitter.pack({value}), own, index * stride,
                               isTile ? nullptr : emitter.isFirstThread());
  emitFullBarrier(emitter);
  llvm::Value *first = instructionsOf(emitter).sharedOfCta(ir, own, ir.getInt32(0));
  Tile result;
  for (unsigned index = 0; index < registers.size(); ++index) {
    llvm::Value *pointer = ir.CreatePtrAdd(first, ir.getInt32(index * stride));
    result.push_back(loadElements(emitter, pointer, element, 1).front());
  }
  endExchange(emitter, op);
  emitter.define(op, std::move(result));
  return success();
}

static LogicalResult emitRank(TtgFunctionEmitter &emitter, ttng::ClusterRankOp op) {
  emitter.define(op, {instructionsOf(emitter).clusterRank(emitter.ir)});
  return success();
}

static LogicalResult emitClusterBarrier(TtgFunctionEmitter &emitter, ttng::ClusterBarrierOp) {
  emitFullBarrier(emitter);
  return success();
}

static LogicalResult emitClusterWait(TtgFunctionEmitter &emitter, ttng::ClusterWaitOp) {
  instructionsOf(emitter).waitForCluster(emitter.ir);
  return success();
}

void nvidia::addClusterEmitters(OpEmitters &table) {
  table.add<emitGather, ttng::ClusterGatherOp>();
  table.add<emitBroadcast, ttng::ClusterBroadcastOp>();
  table.add<emitRank, ttng::ClusterRankOp>();
  table.add<emitClusterBarrier, ttng::ClusterBarrierOp>();
  table.add<emitClusterWait, ttng::ClusterWaitOp>();
}
