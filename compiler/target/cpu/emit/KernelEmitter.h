// Emits a kernel's LLVM function from its plan: the program loop, scalars, control flow.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/DebugInfo.h"
#include "compiler/support/Options.h"
#include "compiler/target/cpu/emit/LaneEmitter.h"
#include "compiler/target/cpu/plan/LoopPlan.h"
#include "compiler/target/cpu/plan/Ranges.h"

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <functional>

namespace nereid::check {
class ValuesOp;
}

namespace nereid::cpu {

/// Whether the kernel multiplies with the processor's tile registers.
bool usesTiles(const LoopPlan &plan);

/// "file.py:12:5" of the user's text, of the call for library code; empty where it is unknown.
std::string userLocation(mlir::Location location);

/// The functions of runtime/cpu/HostCalls.h, in its order.
enum class HostCall : unsigned { Print, Fail, Check, Wait, Arrive };

/// A tile in memory or in a buffer of its own: its first element and strides, in bytes.
struct Redirect {
  llvm::Value *base = nullptr; ///< null where the tile is not affine in memory
  llvm::SmallVector<llvm::Value *, 2> strides;
  /// Whether the elements are read from the buffer: of a tile that is not affine, instead of from their addresses; of a
  /// dot's operand, whose `base` is that buffer then.
  llvm::Value *isCopied = nullptr;
  BufferId copy = 0;
};

/// What a dot in a loop prefetches while it multiplies.
struct DotPrefetches {
  /// Loads whose tiles of the next iteration are prefetched, and their distances in bytes.
  llvm::SmallVector<std::pair<mlir::Operation *, llvm::Value *>, 2> loads;
  tt::StoreOp store;             ///< after the loop: its tile is prefetched in the last iteration; may be null
  llvm::Value *isLast = nullptr; ///< whether this is the last iteration
};

/// The tiles of a kept operand in the call of a kernel, and the one of the current iteration.
struct KeptTiles {
  llvm::Value *first = nullptr; ///< the address of the first
  // The addresses of what changes from program to program:
  llvm::Value *tilesOfSet = nullptr; ///< iterations with a tile of their own
  llvm::Value *sets = nullptr;       ///< that hold tiles
  llvm::Value *set = nullptr;        ///< of the current program
  llvm::Value *wasFound = nullptr;   ///< whether a program has found its tiles in that set since it was made
  llvm::Value *misses = nullptr;     ///< programs in succession that found nothing kept
  llvm::Value *isOff = nullptr;      ///< whether those were too many
  llvm::Value *seen = nullptr;       ///< programs whose first key is noted
  llvm::Value *comesBack = nullptr;  ///< whether a later program had a noted key
  llvm::SmallVector<llvm::AllocaInst *, KeptOperand::stateWords> variables; ///< all of these
  // Of the current iteration:
  llvm::Value *iteration = nullptr; ///< its number
  llvm::Value *isKept = nullptr;    ///< whether the tile was made before; null until that is known
  llvm::Value *isOwn = nullptr;     ///< whether no other iteration of the program has this tile
  llvm::Value *next = nullptr;      ///< the address of the next iteration's tile
};

class KernelEmitter {
public:
  KernelEmitter(llvm::Module &module, tt::FuncOp kernel, LoopPlan &plan, AffineInfo &affineInfo,
                const CpuFeatures &machine, const support::Options &options);

  mlir::LogicalResult run();

  /// The text of a check's report, with `{found}` for the finding.
  std::function<std::string(check::ValuesOp)> checkText;

  //--- for the emitters of nests ---
  llvm::IRBuilder<> ir;
  LaneEmitter lanes;
  LoopPlan &plan;
  AffineInfo &affineInfo;
  const CpuFeatures &machine;

  /// The LLVM value of an emitted scalar or a constant.
  llvm::Value *scalar(mlir::Value value);
  void define(mlir::Value value, llvm::Value *emitted) { scalars[value] = emitted; }
  /// A polynomial as i64, at the insert point.
  llvm::Value *poly(const Poly &poly, unsigned bits = 64);
  /// The address of an affine tile's first element.
  llvm::Value *firstAddress(const AffineForm &form) { return ir.CreatePtrAdd(scalar(form.pointer), poly(form.base)); }
  /// Whether the remainders of these assumptions do not wrap.
  llvm::Value *holds(llvm::ArrayRef<SymbolId> assumptions);
  /// The value clamped to [0, limit], computed in as many bits as it needs.
  llvm::Value *clamped(const Poly &poly, int64_t limit);
  /// The address of a buffer's current contents, or of those about to be written.
  llvm::Value *buffer(BufferId id) { return current[id]; }
  llvm::Value *nextBuffer(BufferId id) { return plan.buffers[id].isDouble && next[id] ? next[id] : current[id]; }
  /// The address of the elements of a value that is read from its buffer.
  llvm::Value *bufferOf(mlir::Value value) {
    const BufferId id = plan.bufferOf.lookup(value);
    return plan.updates.contains(value) ? nextBuffer(id) : buffer(id);
  }
  /// Whether the code before has written the value's buffer.
  bool isReady(mlir::Value value) const { return ready.contains(value); }
  void setReady(mlir::Value value) { ready.insert(value); }
  /// The constant of a carried tile in the first iteration of its loop, while that is emitted; else null.
  mlir::DenseElementsAttr initialOf(mlir::Value tile) const { return initial.lookup(tile); }
  const Redirect *redirectOf(mlir::Operation *load) const {
    auto found = redirects.find(load);
    return found == redirects.end() ? nullptr : &found->second;
  }
  /// Where a dot reads an operand that may be in memory; null where it always reads the buffer.
  const Redirect *operandSource(BufferId id) const {
    auto found = operandSources.find(id);
    return found == operandSources.end() ? nullptr : &found->second;
  }
  /// Those in the buffer; null where it has none.
  const KeptTiles *keptIn(BufferId tiles) const;
  /// Those that the dot's loop computes from the load; null where it keeps none, or has not come to the tile.
  const KeptTiles *keptOf(mlir::Operation *load, mlir::Operation *dot) const;
  /// The prefetch distance of this load in this nest, in bytes; null where it is not prefetched here.
  llvm::Value *prefetchDistance(mlir::Operation *load, const Nest &nest) const {
    return prefetches.lookup({load, nest.id});
  }
  DotPrefetches prefetchesOf(const TileDot &dot) const { return dotPrefetches.lookup(&dot); }
  /// The position of a value's definition in program order.
  unsigned positionOf(mlir::Value value) const { return positions.lookup(value.getDefiningOp()); }
  /// Whether the launch stores more outside loops than the last-level cache holds: such stores may bypass the cache.
  /// Null inside loops and where the cache's size is unknown. Whoever uses the result calls useFence().
  llvm::Value *streamsPastCache() const { return loopDepth == 0 ? isStreaming : nullptr; }
  void useFence() { needsFence = true; }
  /// Whether stores from this address on bypass the cache, if wanted: asks the system once for each call of the kernel.
  llvm::Value *streamsTo(llvm::Value *address, llvm::Value *isWanted);
  llvm::AllocaInst *local(llvm::Type *type, const llvm::Twine &name = "");
  /// The same, with this value when the kernel is called.
  llvm::AllocaInst *local(llvm::Constant *initial, const llvm::Twine &name);
  /// Whether the current iteration of the loop is its last one.
  llvm::Value *isLastIteration(mlir::scf::ForOp loop);
  /// Calls a function of the module that `body` emits at its first use; calls by equal names share it. The body sees
  /// the function's parameters in place of `values`, whose constants become part of the name.
  void callShared(const llvm::Twine &name, llvm::ArrayRef<llvm::Value **> values, llvm::function_ref<void()> body);
  void setLocation(mlir::Location location) { debug.setLocation(ir, location); }
  mlir::LogicalResult emitStraight(mlir::Operation *op);
  /// Emits a basic block of scalars with control flow at the insert point; returns the operands of its terminator.
  mlir::FailureOr<llvm::SmallVector<llvm::Value *>> emitScalarBlock(mlir::Block &block);

private:
  void loadParameters();
  void decideStreaming();
  mlir::LogicalResult emitPrograms();
  mlir::LogicalResult emitSequence(const Sequence &sequence);
  mlir::LogicalResult emitStep(const Step &step);
  mlir::LogicalResult emitScalar(mlir::Operation *op);
  mlir::LogicalResult emitScalarMemory(mlir::Operation *op);
  // EmitDebug.cpp
  void emitPrint(tt::PrintOp op);
  void emitAssert(tt::AssertOp op);
  llvm::Value *allTrue(mlir::Value condition, std::optional<BufferId> tile);
  void failUnless(llvm::Value *holds, llvm::StringRef text);
  llvm::Value *hostCall(HostCall call);
  // EmitWait.cpp
  void emitWait(mlir::scf::WhileOp loop, llvm::Value *isFirst);
  void emitArrival(mlir::Operation *atomic);
  void letOthersRun(HostCall call, llvm::ArrayRef<llvm::Value *> arguments);
  // EmitCheck.cpp
  void emitCheck(check::ValuesOp op);
  llvm::Constant *checkSite(check::ValuesOp op);
  // EmitHostValues.cpp
  llvm::Constant *constantGlobal(llvm::Constant *value);
  /// A PrintedType for each value.
  llvm::Constant *typesOf(mlir::ValueRange values, llvm::ArrayRef<int32_t> isSigned);
  /// The addresses of values that the op's step has stored to memory, scalars included.
  llvm::Value *addressesOf(mlir::Operation *op, mlir::ValueRange values);
  llvm::Value *programIds();
  mlir::LogicalResult emitNest(Nest &nest);
  mlir::LogicalResult emitExactOrNot(Nest &nest, llvm::Value *anyWraps);
  mlir::LogicalResult emitTransposedOrNot(Nest &nest);
  llvm::Value *anyWraps(const Nest &nest);
  // EmitReused.cpp
  llvm::Value *keyOf(const KeptOperand &operand, llvm::Value *tile);
  llvm::Value *hasKey(const KeptOperand &operand, llvm::Value *tile, llvm::ArrayRef<llvm::Value *> key);
  void storeKey(const KeptOperand &operand, llvm::Value *tile, llvm::ArrayRef<llvm::Value *> key);
  llvm::Value *findKey(const KeptOperand &operand, llvm::Value *first, llvm::Value *distance, llvm::Value *count,
                       llvm::ArrayRef<llvm::Value *> key);
  void noteKey(const KeptOperand &operand, KeptTiles &state, llvm::ArrayRef<llvm::Value *> key);
  void makeSet(const KeptOperand &operand, KeptTiles &state, llvm::Value *most, llvm::Value *wasFound);
  void chooseSet(const KeptOperand &operand, KeptTiles &state, llvm::ArrayRef<llvm::Value *> key);
  llvm::Value *chooseTile(const KeptOperand &operand, KeptTiles &state, llvm::ArrayRef<llvm::Value *> key);
  void beginKeeping(llvm::Value *isOneProgram);
  void endKeeping();
  void beginIteration(mlir::scf::ForOp loop, llvm::Value *iteration);
  void endIteration(mlir::scf::ForOp loop);
  mlir::LogicalResult emitUnlessKept(Nest &nest);
  // EmitInPlace.cpp
  mlir::LogicalResult emitUnlessInPlace(Nest &nest, llvm::Value *anyWraps);
  mlir::LogicalResult emitTransposed(Nest &nest, llvm::Value *anyWraps);
  std::optional<Redirect> memoryOf(const Nest &nest, tt::LoadOp load);
  llvm::Value *isWhole(const Nest &nest, tt::LoadOp load);
  mlir::LogicalResult emitPeeled(Nest &nest);
  mlir::LogicalResult emitVersions(llvm::Value *condition, const Nest &nest,
                                   llvm::function_ref<mlir::LogicalResult()> whenTrue,
                                   llvm::function_ref<mlir::LogicalResult()> whenFalse);
  llvm::Value *wraps(mlir::Value side);
  void emitScalarAtomic(tt::MemoryAccessOpInterface op);
  mlir::LogicalResult emitGuard(const Step &step);
  struct Range {
    llvm::Value *low = nullptr;
    llvm::Value *high = nullptr;
  };
  llvm::Value *emitDistinct(const AffineForm &form, llvm::ArrayRef<int64_t> shape, uint64_t size);
  llvm::Value *emitMayOverlap(tt::LoadOp load, tt::StoreOp store);
  llvm::Value *emitRangesOverlap(const Range &read, tt::StoreOp store);
  llvm::Value *emitOverlap(const Guard &guard);
  mlir::LogicalResult emitCopiedOrNot(Nest &nest);
  Range accessRange(tt::MemoryAccessOpInterface access);
  Range emitRange(const RangeExpr &range, llvm::ArrayRef<llvm::Value *> counts);
  Range affineRange(const RangeExpr &range, llvm::ArrayRef<llvm::Value *> counts);
  llvm::Value *smaller(llvm::Value *a, llvm::Value *b);
  llvm::Value *larger(llvm::Value *a, llvm::Value *b);
  mlir::LogicalResult emitFor(const Step &step);
  /// Plans prefetches of the next program's loads.
  void planProgramPrefetches();
  void planPrefetches(const Step &step, llvm::Value *index, llvm::Value *upper, llvm::Value *stride);
  mlir::LogicalResult emitWhile(const Step &step);
  mlir::LogicalResult emitIf(const Step &step);
  mlir::LogicalResult emitSwitch(const Step &step);
  llvm::Value *emitConstant(mlir::Value value);
  llvm::Value *symbolValue(SymbolId symbol);
  llvm::SmallVector<llvm::Value *> yielded(mlir::Operation *terminator);
  llvm::BasicBlock *newBlock(const char *name);
  void addAttributes(llvm::Function &function) const;

  tt::FuncOp kernel;
  const support::Options &options;
  llvm::Function *function = nullptr;
  lowering::DebugInfo debug;
  llvm::DenseMap<mlir::Value, llvm::Value *> scalars;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  llvm::DenseMap<mlir::Operation *, Redirect> redirects;
  llvm::DenseMap<BufferId, Redirect> operandSources;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, llvm::Value *> prefetches;
  llvm::DenseMap<const TileDot *, DotPrefetches> dotPrefetches;
  llvm::DenseMap<mlir::Value, mlir::DenseElementsAttr> initial;
  llvm::DenseSet<mlir::Value> ready;
  llvm::StringMap<llvm::Function *> sharedFunctions;
  llvm::SmallVector<llvm::Value *> current, next;
  llvm::SmallVector<KeptTiles, 2> keptTiles; ///< by index of LoopPlan::keptOperands
  llvm::Value *isStreaming = nullptr;
  llvm::BasicBlock *programsDone = nullptr; ///< branch target of a failed program
  unsigned loopDepth = 0;
  bool needsFence = false;
  bool mayWait = false; ///< a loop of the kernel may wait for other programs
  llvm::Value *programId[3] = {};
  llvm::Value *gridSize[3] = {};
};

} // namespace nereid::cpu
