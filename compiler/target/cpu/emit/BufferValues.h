// Where the tiles of a kernel are while its code is emitted: in buffers of the arena, in memory, or in constants.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/plan/LoopPlan.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/IRBuilder.h"

namespace nereid::cpu {

/// A tile in memory or in a buffer of its own: its first element and strides, in bytes.
struct Redirect {
  llvm::Value *base = nullptr; ///< null where the tile is not affine in memory
  llvm::SmallVector<llvm::Value *, 2> strides;
  /// Whether the elements are read from the buffer `copy`: those of a tile that is not affine instead of from their
  /// addresses, those of a dot's operand through `base`, which is that buffer then.
  llvm::Value *isCopied = nullptr;
  BufferId copy = 0;
};

class BufferValues {
public:
  explicit BufferValues(const LoopPlan &plan) : plan(plan) {}

  /// Emits the addresses of all buffers.
  void begin(llvm::IRBuilder<> &ir, llvm::Value *arena) {
    for (const Buffer &buffer : plan.buffers)
      current.push_back(ir.CreateConstGEP1_64(ir.getInt8Ty(), arena, buffer.offset));
    next.resize(current.size());
  }

  /// The address of a buffer's current contents, or of those about to be written.
  llvm::Value *at(BufferId id) const { return current[id]; }
  llvm::Value *nextAt(BufferId id) const { return plan.buffers[id].isDouble && next[id] ? next[id] : current[id]; }
  void moveTo(BufferId id, llvm::Value *address) { current[id] = address; }
  void setNext(BufferId id, llvm::Value *address) { next[id] = address; }
  /// The address of the elements of a value that is read from its buffer.
  llvm::Value *of(mlir::Value value) const {
    const BufferId id = plan.bufferOf.lookup(value);
    return plan.updates.contains(value) ? nextAt(id) : at(id);
  }

  /// Whether the code before has written the value's buffer.
  bool isReady(mlir::Value value) const { return ready.contains(value); }
  void setReady(mlir::Value value) { ready.insert(value); }
  const llvm::DenseSet<mlir::Value> &readyValues() const { return ready; }
  void setReadyValues(const llvm::DenseSet<mlir::Value> &values) { ready = values; }

  /// The constant of a carried tile in the first iteration of its loop, while that is emitted; else null.
  mlir::DenseElementsAttr initialOf(mlir::Value tile) const { return initial.lookup(tile); }
  void setInitial(llvm::ArrayRef<std::pair<mlir::Value, mlir::DenseElementsAttr>> constants) {
    initial.clear();
    initial.insert(constants.begin(), constants.end());
  }

  /// What a load reads instead of its memory; null where nothing has been copied.
  const Redirect *redirectOf(mlir::Operation *load) const {
    auto found = redirects.find(load);
    return found == redirects.end() ? nullptr : &found->second;
  }
  void redirect(mlir::Operation *load, Redirect source) { redirects[load] = std::move(source); }
  /// Sets whether the load reads its copy; null: it does not. Returns what was set before.
  llvm::Value *setCopied(mlir::Operation *load, llvm::Value *isCopied) {
    return std::exchange(redirects[load].isCopied, isCopied);
  }

  /// Where a dot reads an operand that may be in memory; null where it always reads the buffer.
  const Redirect *operandSource(BufferId id) const {
    auto found = operandSources.find(id);
    return found == operandSources.end() ? nullptr : &found->second;
  }
  void setOperandSource(BufferId id, Redirect source) { operandSources[id] = std::move(source); }

private:
  const LoopPlan &plan;
  llvm::SmallVector<llvm::Value *> current, next;
  llvm::DenseMap<mlir::Operation *, Redirect> redirects;
  llvm::DenseMap<BufferId, Redirect> operandSources;
  llvm::DenseMap<mlir::Value, mlir::DenseElementsAttr> initial;
  llvm::DenseSet<mlir::Value> ready;
};

} // namespace nereid::cpu
