// Allocates buffers, the largest first, each at the lowest offset that is free during its lifetime.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/SharedMemory.h"

#include "compiler/analysis/ValueFlow.h"
#include "compiler/dialect/ttg/Buffers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;

/// Scratch buffers up to this size share no bytes, up to this total.
static constexpr uint32_t kSmallBytes = 1024, kSmallTotal = 4096;
static constexpr uint32_t kAlignment = 16;

//--- sizes ---------------------------------------------------------------------------------

uint32_t analysis::scratchBytes(Operation *op) {
  auto interface = dyn_cast<ttg::ScratchOpInterface>(op);
  return interface ? interface.getScratch().bytes : 0;
}

static bool isKept(Operation *op) {
  auto interface = dyn_cast<ttg::ScratchOpInterface>(op);
  return interface && interface.getScratch().isKept;
}

uint32_t analysis::bufferBytes(Operation *op) {
  auto allocation = dyn_cast<ttg::LocalAllocOp>(op);
  return allocation ? bufferBytes(allocation.getType()) : scratchBytes(op);
}

uint32_t analysis::bufferBytes(ttg::MemDescType buffer) { return ttg::allocationBytes(buffer); }

SharedRange SharedMemoryPlan::rangeOf(Operation *op) const {
  auto found = offsetOf.find(op);
  return found == offsetOf.end() ? SharedRange() : SharedRange{found->second, found->second + bytesOf.lookup(op)};
}

//--- lifetimes -----------------------------------------------------------------------------

namespace {
struct Buffer {
  Operation *op = nullptr;
  uint32_t bytes = 0, alignment = kAlignment;
  unsigned first = 0, last = 0; ///< first and last position of its lifetime
  Region *warps = nullptr;      ///< the region of a `warp_specialize` that contains it

  /// Regions of different warps run at the same time.
  bool isAliveWith(const Buffer &other) const {
    return (warps && other.warps && warps != other.warps) || (first <= other.last && other.first <= last);
  }
};

/// Positions of a function's ops in program order; an op with regions has one at each end.
class Positions {
public:
  explicit Positions(tt::FuncOp function) { number(function); }

  unsigned begin(Operation *op) const { return begins.lookup(op); }
  unsigned end(Operation *op) const { return ends.lookup(op); }
  unsigned last() const { return next; }

private:
  void number(Operation *op) {
    begins[op] = next++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          number(&inner);
    ends[op] = next++;
  }
  llvm::DenseMap<Operation *, unsigned> begins, ends;
  unsigned next = 0;
};
} // namespace

/// The end of the outermost op with regions that contains `user` but not `definition`, since a loop may execute the
/// user again.
static unsigned endOfUse(Operation *definition, Operation *user, const Positions &positions) {
  unsigned last = positions.end(user);
  for (Operation *parent = user->getParentOp(); parent && !parent->isAncestor(definition);
       parent = parent->getParentOp())
    last = positions.end(parent);
  return last;
}

/// The last position at which the buffer, or a value that carries it, is used.
static unsigned lastUse(ttg::LocalAllocOp allocation, const Positions &positions) {
  unsigned last = positions.end(allocation);
  SmallVector<Value> todo = {allocation.getResult()};
  llvm::SmallDenseSet<Value, 8> seen;
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      last = std::max(last, endOfUse(allocation, user, positions));
      todo.append(forwardedFrom(use));
      if (user->getNumRegions() == 0) // a view
        todo.append(user->result_begin(), user->result_end());
    }
    llvm::erase_if(todo, [](Value next) { return !isa<ttg::MemDescType>(next.getType()); });
  }
  return last;
}

static SmallVector<Buffer> buffersOf(tt::FuncOp function, const Positions &positions) {
  SmallVector<Buffer> buffers;
  uint32_t smallTotal = 0;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    const uint32_t bytes = bufferBytes(op);
    if (!bytes)
      return;
    Buffer buffer{op, bytes, kAlignment, positions.begin(op), positions.end(op), ttg::warpRegionOf(op)};
    if (auto allocation = dyn_cast<ttg::LocalAllocOp>(op)) {
      buffer.last = lastUse(allocation, positions);
      buffer.alignment =
          std::max(ttg::alignmentOf(allocation.getType()), uint32_t(allocation.getAlignment().value_or(0)));
    } else if (isKept(op) || (bytes <= kSmallBytes && smallTotal + bytes <= kSmallTotal)) {
      smallTotal += isKept(op) ? 0 : bytes;
      buffer.first = 0;
      buffer.last = positions.last();
    }
    buffers.push_back(buffer);
  });
  return buffers;
}

//--- offsets -------------------------------------------------------------------------------

/// The lowest offset from `base` on that no buffer with an overlapping lifetime occupies.
static uint32_t lowestOffset(const Buffer &buffer, ArrayRef<std::pair<Buffer, SharedRange>> allocated, uint32_t base) {
  SharedRange range;
  range.begin = llvm::alignTo(base, buffer.alignment);
  for (bool moved = true; moved;) {
    moved = false;
    range.end = range.begin + buffer.bytes;
    for (const auto &[other, taken] : allocated) {
      if (!buffer.isAliveWith(other) || !taken.overlaps(range))
        continue;
      range.begin = llvm::alignTo(taken.end, buffer.alignment);
      moved = true;
      break;
    }
  }
  return range.begin;
}

static void planFunction(tt::FuncOp function, SharedMemoryPlan &plan) {
  const Positions positions(function);
  SmallVector<Buffer> buffers = buffersOf(function, positions);
  llvm::sort(buffers, [&](const Buffer &a, const Buffer &b) {
    return std::pair(b.bytes, positions.begin(a.op)) < std::pair(a.bytes, positions.begin(b.op));
  });
  const uint32_t base = plan.bytes;
  SmallVector<std::pair<Buffer, SharedRange>> allocated;
  for (const Buffer &buffer : buffers) {
    const uint32_t begin = lowestOffset(buffer, allocated, base);
    allocated.emplace_back(buffer, SharedRange{begin, begin + buffer.bytes});
    plan.offsetOf[buffer.op] = begin;
    plan.bytesOf[buffer.op] = buffer.bytes;
    plan.bytes = std::max(plan.bytes, begin + buffer.bytes);
    plan.alignment = std::max(plan.alignment, buffer.alignment);
  }
  plan.functionRange[function] = {base, plan.bytes};
}

/// Extends a function's range to those of its callees; true where it grew.
static bool coverCalls(tt::FuncOp function, SharedMemoryPlan &plan) {
  SharedRange &range = plan.functionRange[function];
  const SharedRange before = range;
  function.walk([&](tt::CallOp call) {
    const SharedRange callee =
        plan.functionRange.lookup(SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr()));
    if (callee.begin == callee.end)
      return;
    const bool isEmpty = range.begin == range.end;
    range = {isEmpty ? callee.begin : std::min(range.begin, callee.begin),
             isEmpty ? callee.end : std::max(range.end, callee.end)};
  });
  return range.begin != before.begin || range.end != before.end;
}

SharedMemoryPlan analysis::planSharedMemory(ModuleOp module) {
  SharedMemoryPlan plan;
  module.walk([&](tt::FuncOp function) { planFunction(function, plan); });
  // Terminates since functions are not recursive.
  for (bool grew = true; grew;) {
    grew = false;
    module.walk([&](tt::FuncOp function) { grew |= coverCalls(function, plan); });
  }
  return plan;
}

std::pair<Operation *, uint32_t> analysis::largestBuffer(tt::FuncOp function, const SharedMemoryPlan &plan) {
  std::pair<Operation *, uint32_t> largest = {function, 0};
  function.walk([&](Operation *op) {
    if (const uint32_t bytes = plan.bytesOf.lookup(op); bytes > largest.second)
      largest = {op, bytes};
  });
  return largest;
}
