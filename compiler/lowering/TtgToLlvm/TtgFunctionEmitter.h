// What the emitters of ops share within one function: emitted values, threads, shared memory, basic blocks.
// SPDX-License-Identifier: MIT
//
// OpEmitters.h has the emitters themselves: free functions, in the file of their op's family.
#pragma once

#include "compiler/lowering/TtgToLlvm/Elementwise.h"
#include "compiler/lowering/TtgToLlvm/Tile.h"
#include "compiler/lowering/TtgToLlvm/TtgModuleEmitter.h"
#include "compiler/lowering/TtgToLlvm/WarpDispatch.h"
#include "compiler/lowering/asm/InlineAsm.h"

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Conversion.h"
#include "compiler/layout/Gather.h"
#include "compiler/layout/SharedAccessPlan.h"

#include "llvm/Support/KnownBits.h"

#include <map>

namespace nereid::lowering {

/// The warps that run a region, their barrier and their registers.
struct RegionWarps {
  unsigned first = 0, count = 0;
  unsigned barrierId = 0;
  unsigned registers = 0; ///< of each thread; 0: those with which it starts
  bool gainsRegisters = false;
};

/// A buffer in shared memory. The emitted values of one are the address of its first element and, of a part of an
/// allocation, that element's offset in the allocation in elements, without gaps.
struct BufferAddress {
  llvm::Value *first = nullptr;
  llvm::Value *part = nullptr; ///< an i32; null: 0

  BufferAddress(llvm::Value *first, llvm::Value *part = nullptr) : first(first), part(part) {}
};

class TtgFunctionEmitter {
public:
  TtgFunctionEmitter(TtgModuleEmitter &module, tt::FuncOp source, llvm::Function &function);
  mlir::LogicalResult run();
  /// Emits a region that only some warps run, from the basic block `entry` to a branch to `end`. Inside, threads are
  /// counted from the first warp on; values emitted before are visible, and those that `prepare` defines.
  mlir::LogicalResult runRegion(mlir::Block &block, const RegionWarps &warps, llvm::BasicBlock *entry,
                                llvm::BasicBlock *end,
                                llvm::function_ref<void(TtgFunctionEmitter &)> prepare = nullptr);
  /// Lets the first warps of the CTA alone run the function's body.
  void useWarps(unsigned count, unsigned barrierId);

  //--- values ---
  const Tile &tile(mlir::Value value) const;
  llvm::Value *scalar(mlir::Value value) const { return tile(value).front(); }
  BufferAddress buffer(mlir::Value value) const {
    const Tile &parts = tile(value);
    return {parts.front(), parts.size() > 1 ? parts[1] : nullptr};
  }
  void define(mlir::Value value, Tile emitted) { tiles[value] = std::move(emitted); }
  /// Computes base plus offset and records them for the result.
  llvm::Value *materialise(const BaseOffset &baseOffset, llvm::Type *type);

  //--- ops and basic blocks ---
  mlir::LogicalResult emitBlock(mlir::Block &block);
  /// The results of a region of scalar ops, as reductions, scans and maps have.
  mlir::FailureOr<Tile> emitRegion(mlir::Block &block, llvm::ArrayRef<llvm::Value *> arguments);
  llvm::BasicBlock *newBlock(const char *name);
  /// Emits a branch around what `emit` emits; none where `condition` is null.
  void runWhere(llvm::Value *condition, llvm::function_ref<void()> emit);

  //--- threads, of the region (Program.cpp) ---
  llvm::Value *thread();
  llvm::Value *threadBits(llvm::ArrayRef<uint32_t> laneBases, llvm::ArrayRef<uint32_t> warpBases);
  /// threadBits of warp bits alone, in a form that LLVM sees as uniform over lanes; null where it is 0.
  llvm::Value *warpBits(llvm::ArrayRef<uint32_t> warpBases);
  llvm::Value *threadHasNone(uint32_t laneMask, uint32_t warpMask);
  llvm::Value *threadIsOdd(uint32_t laneMask, uint32_t warpMask);
  llvm::Value *isFirstThread() { return threadHasNone(~0u, ~0u); }
  llvm::Value *isFirstLane() { return threadHasNone(target.threadsPerWarp() - 1, 0); }
  /// Whether this thread accesses memory, of all threads that hold the same elements; null where all do. For a scalar
  /// it is the first thread.
  llvm::Value *ownerOf(mlir::Type pointers);
  /// Barrier of the threads.
  void barrier();

  //--- elements of a tile (Debug.cpp) ---
  /// The coordinates of a register's element in its tile.
  Tile coordinatesInTile(const layout::LinearLayout &layout, unsigned index);
  /// Whether an operand's element exists, rather than pads a tile; null where all exist.
  llvm::Value *existsInTile(mlir::Operation *op, unsigned operand, unsigned index);

  //--- words of registers (Memory.cpp, ConvertLayout.cpp) ---
  llvm::SmallVector<llvm::Value *, 4> pack(llvm::ArrayRef<llvm::Value *> elements);
  Tile unpack(llvm::ArrayRef<llvm::Value *> words, mlir::Type element, unsigned count);
  /// Applies `move`, which takes i32, to a value of any type.
  llvm::Value *wordwise(llvm::Value *value, llvm::function_ref<llvm::Value *(llvm::Value *)> move);

  //--- scratch memory (Shared.cpp, Program.cpp) ---
  /// The op's buffer in shared memory.
  llvm::Value *sharedScratch(mlir::Operation *op, uint32_t byteOffset = 0);
  /// `mask`, where it is not null, tells which threads store.
  void storeShared(const BufferAddress &buffer, const layout::SharedAccessPattern &pattern, unsigned repetition,
                   llvm::ArrayRef<llvm::Value *> registers, llvm::Value *mask = nullptr);
  void loadShared(const BufferAddress &buffer, const layout::SharedAccessPattern &pattern, unsigned repetition,
                  mlir::Type element, llvm::MutableArrayRef<llvm::Value *> registers);
  /// The program's scratch in global memory, from `scratchOffset` on.
  llvm::Value *programScratch(uint32_t scratchOffset);

  TtgModuleEmitter &module;
  unsigned firstThread = 0, numThreads; ///< the range of the CTA's threads that run the code
  bool isOneWarp = false;               ///< whether only the first warp of them does
  TargetEmitter &target;
  tt::FuncOp source;
  llvm::Function &function;
  IrBuilder ir;
  ElementEmitter elements;
  BaseOffsetTable baseOffsets;
  std::optional<WarpDispatch> dispatch; ///< where other warps wait for partitions
  /// Sums of bases that Index.cpp has computed for the current op, by pair; and known bits of bases.
  llvm::DenseMap<std::pair<llvm::Value *, llvm::Value *>, llvm::Value *> basesOfOp;
  llvm::DenseMap<llvm::Value *, llvm::KnownBits> knownBits;

private:
  TtgFunctionEmitter(const TtgFunctionEmitter &outer, const RegionWarps &warps);
  mlir::LogicalResult emit(mlir::Operation &op);
  /// All bits that a thread index may have.
  uint32_t threadIndexMask() const { return llvm::PowerOf2Ceil(numThreads) - 1; }

  IrBuilder prologue; ///< at the end of the entry block, which dominates the function, or its region
  analysis::BarrierPlan barriers;
  BarrierScope barrierScope;
  llvm::DenseMap<mlir::Value, Tile> tiles;
  llvm::Value *threadNumber = nullptr;
  std::map<std::vector<uint32_t>, llvm::Value *> threadParts;
};

} // namespace nereid::lowering
