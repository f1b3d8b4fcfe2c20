// Emits one function: each op by a method of its family's file.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/InlineAsm.h"
#include "compiler/lowering/TtgToLlvm/Elementwise.h"
#include "compiler/lowering/TtgToLlvm/Tile.h"
#include "compiler/lowering/TtgToLlvm/TtgModuleEmitter.h"

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttng/Dialect.h"
#include "compiler/layout/Conversion.h"
#include "compiler/layout/Gather.h"
#include "compiler/layout/SharedAccessPlan.h"

#include "llvm/Support/KnownBits.h"

#include <map>

namespace nereid::lowering {

class TtgFunctionEmitter {
public:
  TtgFunctionEmitter(TtgModuleEmitter &module, tt::FuncOp source, llvm::Function &function);
  mlir::LogicalResult run();

private:
  // Values.
  const Tile &tile(mlir::Value value) const;
  llvm::Value *scalar(mlir::Value value) const { return tile(value).front(); }
  void define(mlir::Value value, Tile emitted) { tiles[value] = std::move(emitted); }
  /// Computes base plus offset and records them for the result.
  llvm::Value *materialise(const BaseOffset &baseOffset, llvm::Type *type);
  mlir::LogicalResult emit(mlir::Operation &op);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitBlock(mlir::Block &block);

  // Program.cpp: threads and functions.
  llvm::Value *threadBits(llvm::ArrayRef<uint32_t> laneBases, llvm::ArrayRef<uint32_t> warpBases);
  /// threadBits of warp bits alone, in a form that LLVM sees as uniform over lanes; null where it is 0.
  llvm::Value *warpBits(llvm::ArrayRef<uint32_t> warpBases);
  llvm::Value *threadHasNone(uint32_t laneMask, uint32_t warpMask);
  llvm::Value *threadIsOdd(uint32_t laneMask, uint32_t warpMask);
  llvm::Value *thread();
  mlir::LogicalResult emitCall(tt::CallOp op);
  mlir::LogicalResult emitReturn(tt::ReturnOp op);
  void barrier();

  // Elementwise and index arithmetic.
  mlir::LogicalResult emitConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult emitElementwise(mlir::Operation *op);
  mlir::LogicalResult emitInlineAsm(tt::ElementwiseInlineAsmOp op);
  /// What the assembly returns, or zeros in threads where none of the registers' elements exist.
  llvm::SmallVector<Elements, 2> runWhereExisting(tt::ElementwiseInlineAsmOp op, llvm::ArrayRef<unsigned> registers,
                                                  llvm::function_ref<llvm::SmallVector<Elements, 2>()> emit);
  bool emitIndex(mlir::Operation *op);
  mlir::LogicalResult emitAddPtr(tt::AddPtrOp op);
  llvm::Value *addBaseOffsets(llvm::Value *a, llvm::Value *b, bool isDifference);
  llvm::Value *scaleBaseOffset(llvm::Value *a, const llvm::APInt &factor);
  llvm::Value *extendBaseOffset(llvm::Value *a, llvm::Type *type);
  bool addsExactly(llvm::Value *base, int64_t offset);
  llvm::Value *onBases(llvm::Value *a, llvm::Value *b, llvm::function_ref<llvm::Value *()> make);

  // Shape.
  mlir::LogicalResult emitMakeRange(tt::MakeRangeOp op);
  mlir::LogicalResult emitSplat(tt::SplatOp op);
  mlir::LogicalResult emitReordered(mlir::Operation *op);
  mlir::LogicalResult emitJoin(mlir::Operation *op);
  mlir::LogicalResult emitSplit(tt::SplitOp op);

  // Memory.
  mlir::LogicalResult emitLoad(tt::LoadOp op);
  mlir::LogicalResult emitStore(tt::StoreOp op);
  Tile loadVector(tt::LoadOp op, unsigned first, unsigned count);
  void storeVector(tt::StoreOp op, unsigned first, unsigned count, llvm::Value *isOwner);
  /// Whether the thread is the one that accesses memory among those that hold the same elements; null where all do. For
  /// a scalar it is the first thread.
  llvm::Value *ownerOf(mlir::Type pointers);
  mlir::LogicalResult emitAtomic(mlir::Operation *op);
  friend class AtomicEmitter;
  llvm::SmallVector<llvm::Value *, 4> pack(llvm::ArrayRef<llvm::Value *> elements);
  Tile unpack(llvm::ArrayRef<llvm::Value *> words, mlir::Type element, unsigned count);

  // Shared memory.
  mlir::LogicalResult emitLocalAlloc(ttg::LocalAllocOp op);
  mlir::LogicalResult emitLocalLoad(ttg::LocalLoadOp op);
  mlir::LogicalResult emitLocalStore(ttg::LocalStoreOp op);
  mlir::LogicalResult emitMemDescIndex(ttg::MemDescIndexOp op);
  mlir::LogicalResult emitAsyncCopy(ttg::AsyncCopyGlobalToLocalOp op);
  void copyVector(const AsyncCopy &copy);
  // TMA copies.
  mlir::LogicalResult emitMakeTensorMap(ttng::MakeTensorMapOp op);
  mlir::LogicalResult emitBarriers(mlir::Operation *op);
  mlir::LogicalResult emitTmaCopy(mlir::Operation *op);
  friend class TmaCopyEmitter;
  llvm::Value *isFirstThread();
  llvm::Value *programScratch(uint32_t scratchOffset);
  llvm::Value *sharedPointer(uint32_t offset);
  void storeShared(llvm::Value *buffer, const layout::SharedAccessPattern &pattern, unsigned repetition,
                   llvm::ArrayRef<llvm::Value *> registers);
  void loadShared(llvm::Value *buffer, const layout::SharedAccessPattern &pattern, unsigned repetition,
                  mlir::Type element, Tile &registers);
  void storeTile(llvm::Value *buffer, mlir::RankedTensorType tile, ttg::MemDescType type,
                 llvm::ArrayRef<llvm::Value *> registers);
  void storeByStmatrix(llvm::Value *buffer, const layout::LdStMatrixPlan &plan,
                       llvm::ArrayRef<llvm::Value *> registers);
  void loadByLdmatrix(llvm::Value *buffer, const layout::LdStMatrixPlan &plan, mlir::Type element, Tile &registers);

  // Between threads.
  mlir::LogicalResult emitConvertLayout(ttg::ConvertLayoutOp op);
  Tile shuffleTile(const layout::ShufflePlan &plan, llvm::ArrayRef<llvm::Value *> registers, mlir::Type element);
  void selectWords(llvm::ArrayRef<layout::SelectStage> stages, Tile &words);
  /// Applies `move`, which takes i32, to a value of any type.
  llvm::Value *wordwise(llvm::Value *value, llvm::function_ref<llvm::Value *(llvm::Value *)> move);
  mlir::LogicalResult emitReduce(tt::ReduceOp op);
  friend class ReductionEmitter;
  mlir::LogicalResult emitScan(tt::ScanOp op);
  friend class ScanEmitter;
  mlir::LogicalResult emitMap(tt::MapElementwiseOp op);
  /// The results of a region of scalar ops.
  mlir::FailureOr<Tile> emitRegion(mlir::Block &block, llvm::ArrayRef<llvm::Value *> arguments);
  mlir::LogicalResult emitGather(tt::GatherOp op);
  Tile exchange(tt::GatherOp op, const layout::ExchangePlan &plan);
  Tile exchangeWarps(tt::GatherOp op, const layout::SharedPlan &plan);
  Tile readGathered(tt::GatherOp op, llvm::Value *buffer);
  mlir::LogicalResult emitHistogram(tt::HistogramOp op);
  void clearCounters(llvm::Value *counters, unsigned count);
  void countElements(tt::HistogramOp op, llvm::Value *counters, unsigned count);
  mlir::LogicalResult emitDot(tt::DotOp op);
  friend class DotEmitter;
  friend class FmaDotOperand;
  friend class FmaDotEmitter;
  friend class SharedReader;
  mlir::LogicalResult emitWarpGroupDot(ttng::WarpGroupDotOp op);
  mlir::LogicalResult emitWarpGroupDotWait(ttng::WarpGroupDotWaitOp op);
  friend class WarpGroupDotEmitter;

  // Debug.
  mlir::LogicalResult emitAssert(tt::AssertOp op);
  mlir::LogicalResult emitPrint(tt::PrintOp op);
  void printElement(tt::PrintOp op, unsigned operand, unsigned index);
  /// The coordinates of an element in its tile.
  Tile coordinatesInTile(const layout::LinearLayout &layout, unsigned index);
  void runWhere(llvm::Value *condition, llvm::function_ref<void()> emit);
  /// Whether an operand's element exists, rather than pads a tile; null where all exist.
  llvm::Value *existsInTile(mlir::Operation *op, unsigned operand, unsigned index);

  // Control.
  mlir::LogicalResult emitFor(mlir::scf::ForOp op);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult emitIf(mlir::scf::IfOp op);
  mlir::LogicalResult emitSwitch(mlir::scf::IndexSwitchOp op);
  friend class TilePhis;

  llvm::BasicBlock *newBlock(const char *name);

  TtgModuleEmitter &module;
  TargetEmitter &target;
  tt::FuncOp source;
  llvm::Function &function;
  IrBuilder ir;
  IrBuilder prologue; ///< at the end of the entry block, which dominates everything
  ElementEmitter elements;
  analysis::BarrierPlan barriers;
  llvm::DenseMap<mlir::Value, Tile> tiles;
  BaseOffsetTable baseOffsets;
  llvm::Value *threadNumber = nullptr;
  std::map<std::vector<uint32_t>, llvm::Value *> threadParts;
  llvm::DenseMap<std::pair<llvm::Value *, llvm::Value *>, llvm::Value *> basesOfOp; ///< of the current op
  llvm::DenseMap<llvm::Value *, llvm::KnownBits> knownBits;
};

} // namespace nereid::lowering
