// Interface to what differs between GPU vendors when tiles become LLVM IR: ids, barriers, shuffles, memory accesses,
// approximate arithmetic.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/math/Math.h"

#include "llvm/IR/IRBuilder.h"

namespace nereid::lowering {

class OpEmitters;
class TtgFunctionEmitter;
struct BufferAddress;

using IrBuilder = llvm::IRBuilder<>;

/// An address `base + offset + byteOffset`, with a base that all lanes share. The distance from the base is not
/// negative and below 2^31 where the access's mask is true.
struct BoundedAddress {
  llvm::Value *base = nullptr;
  llvm::Value *offset = nullptr; ///< an i32; null: 0
  int64_t byteOffset = 0;
};

/// One access of a thread to global memory: `numWords` words at `pointer + byteOffset`, aligned to all of them
/// together. There is no access where `mask` (i1, null: always) is false.
struct GlobalAccess {
  llvm::Value *pointer = nullptr;
  int64_t byteOffset = 0;
  llvm::Type *wordType = nullptr; ///< an integer of 8 to 64 bits
  unsigned numWords = 1;          ///< 1, 2 or 4; 128 bits at most in total
  llvm::Value *mask = nullptr;
  tt::CacheModifier cache = tt::CacheModifier::NONE;
  tt::EvictionPolicy evict = tt::EvictionPolicy::NORMAL;
  bool isVolatile = false;
  BoundedAddress bounded; ///< the same address in this form, where its base is not null
};

/// One atomic access of a thread to global memory. `value` is an integer or float of 16 to 64 bits, or a vector of
/// adjacent floats of up to 16 bytes in total. There is no access where `mask` (i1, null: always) is false.
struct AtomicAccess {
  llvm::Value *pointer = nullptr;
  int64_t byteOffset = 0;
  bool isLoad = false;         ///< returns what memory holds; `value` only gives the type, an integer of 8 to 64 bits
  bool isStore = false;        ///< writes `value`, such an integer, and returns nothing
  std::optional<tt::RMWOp> op; ///< none: compare and swap, unless isLoad or isStore
  llvm::Value *value = nullptr;
  llvm::Value *compared = nullptr;
  llvm::Value *mask = nullptr;
  tt::MemSemantic semantic = tt::MemSemantic::ACQUIRE_RELEASE;
  tt::MemSyncScope scope = tt::MemSyncScope::GPU;
  bool isUsed = true; ///< whether the previous value is used
};

/// An asynchronous copy from global to shared memory by a thread; both addresses are aligned to `bytes`: 4, 8 or 16.
/// Writes `others` where `mask` (i1, null: always) is false.
struct AsyncCopy {
  llvm::Value *source = nullptr;
  int64_t sourceOffset = 0;
  llvm::Value *target = nullptr;
  int64_t targetOffset = 0;
  unsigned bytes = 0;
  llvm::Value *mask = nullptr;
  llvm::ArrayRef<llvm::Value *> others; ///< words of 32 bits; none: zeros
  tt::CacheModifier cache = tt::CacheModifier::NONE;
  BoundedAddress bounded;     ///< the source in this form, where its base is not null
  bool isInLaneOrder = false; ///< whether the lanes of a warp fill vectors that follow each other in shared memory
};

/// What a thread reports when it ends the launch.
struct Failure {
  llvm::StringRef message, file, function;
  unsigned line = 0;
};

/// Operations of the instructions that combine all lanes of a warp.
enum class WarpReduction : uint8_t { Add, MinSigned, MaxSigned, MinUnsigned, MaxUnsigned, And, Or, Xor };

/// Functions of one float that a target may have an approximate form of.
enum class ApproxMath : uint8_t { Exp, Exp2, Sqrt, Rsqrt };

/// A library function on one element of each operand.
struct ExternCall {
  llvm::StringRef symbol;
  llvm::StringRef libraryPath; ///< a file of LLVM bitcode; empty: the target's own library
  llvm::ArrayRef<llvm::Value *> arguments;
  llvm::Type *result = nullptr;
};

/// Launch bounds of a kernel's function.
struct LaunchBounds {
  unsigned numThreads = 0;
  unsigned maxRegisters = 0;       ///< 0: no limit
  bool reassignsRegisters = false; ///< whether warps change their number of registers; then each CTA has a
                                   ///< multiprocessor of its own
};

/// A barrier of the hardware and the threads that it counts.
struct BarrierScope {
  unsigned id = 0;         ///< below 16; that of the whole CTA is 0
  unsigned numThreads = 0; ///< 0: all threads of the CTA
};

class TargetEmitter {
public:
  virtual ~TargetEmitter();

  /// Adds the emitters of the target's own dialect, and of ops for which it has instructions.
  virtual void addOpEmitters(OpEmitters &table) {}

  // Program.
  virtual unsigned threadsPerWarp() const = 0;
  /// Calling convention and launch bounds.
  virtual void markKernel(llvm::Function &function, const LaunchBounds &bounds) = 0;
  /// Marks a kernel parameter that is passed by value; the argument is its address. False where there are none.
  virtual bool markParameterByValue(llvm::Argument &parameter) { return false; }
  virtual llvm::Value *programId(IrBuilder &ir, unsigned axis) = 0;
  virtual llvm::Value *numPrograms(IrBuilder &ir, unsigned axis) = 0;
  /// The thread's index in its CTA, below `numThreads`.
  virtual llvm::Value *threadId(IrBuilder &ir, unsigned numThreads) = 0;
  /// Barrier of threads of the CTA: accesses to shared and global memory before it are visible to all of them after it.
  virtual void barrier(IrBuilder &ir, const BarrierScope &scope) = 0;
  /// Changes the registers of each thread to `count`, from more or from less; executed by whole warp groups. False,
  /// with nothing emitted, where the number is fixed.
  virtual bool setRegisters(IrBuilder &ir, unsigned count, bool isIncrease) = 0;

  // Warps. Words are i32.
  /// Barrier of a warp's lanes: accesses to shared memory before it are visible to all of them after it.
  virtual void syncWarp(IrBuilder &ir) = 0;
  virtual llvm::Value *shuffleXor(IrBuilder &ir, llvm::Value *word, unsigned laneMask) = 0;
  virtual llvm::Value *shuffleIndex(IrBuilder &ir, llvm::Value *word, llvm::Value *lane) = 0;
  /// An i32 combined over all lanes; null where there is no instruction for it.
  virtual llvm::Value *reduceWarp(IrBuilder &ir, WarpReduction kind, llvm::Value *word) = 0;

  // Memory.
  /// The loaded words; `others` where the mask is false.
  virtual llvm::SmallVector<llvm::Value *, 4> loadGlobal(IrBuilder &ir, const GlobalAccess &access,
                                                         llvm::ArrayRef<llvm::Value *> others) = 0;
  virtual void storeGlobal(IrBuilder &ir, const GlobalAccess &access, llvm::ArrayRef<llvm::Value *> words) = 0;
  /// Stores adjacent words to shared memory where `mask` (null: always) is true; number and width as in GlobalAccess.
  virtual void storeShared(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *pointer, int64_t byteOffset,
                           llvm::Value *mask) = 0;
  virtual unsigned sharedAddressSpace() const = 0;
  /// The i32 offset, such that LLVM computes what depends on it where it is used, not before the loop: for targets
  /// where registers that live through a loop are dearer than an addition in it.
  virtual llvm::Value *rematerialised(IrBuilder &, llvm::Value *offset) { return offset; }
  /// Loads `count` (1, 2 or 4) matrices of 8 rows of 16 bytes from shared memory, one i32 per lane each, as
  /// layout::MatrixForm describes. Plans have them only for targets with ttg::MatrixAccesses.
  virtual llvm::SmallVector<llvm::Value *, 8> ldmatrix(IrBuilder &ir, llvm::Value *row, int64_t byteOffset,
                                                       unsigned count, bool isTransposed) = 0;
  /// Inverse of ldmatrix: stores a lane's words, one per matrix, to the rows.
  virtual void stmatrix(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *row, int64_t byteOffset,
                        bool isTransposed) = 0;
  /// Emits the access; returns what memory held before, undefined where the mask is false or the result is not used;
  /// null, with nothing emitted, where there is no instruction for the access.
  virtual llvm::Value *atomicGlobal(IrBuilder &ir, const AtomicAccess &access) = 0;
  /// Adds what the target's code generator must know of an access by LLVM's own instruction.
  virtual void markAtomic(llvm::AtomicRMWInst &) {}
  /// LLVM's name of a scope. LLVM's own atomic accesses are used where the target has no instruction.
  virtual llvm::StringRef scopeName(tt::MemSyncScope scope) const = 0;
  /// Orders the thread's stores to a buffer in shared memory before asynchronous readers of it, after the next barrier.
  virtual void releaseStores(IrBuilder &ir, ttg::MemDescType buffer) {}
  /// Loads a tile's registers from a buffer in shared memory by instructions of the target, or stores them; false, with
  /// nothing emitted, where plain accesses do as well.
  virtual bool loadTile(TtgFunctionEmitter &emitter, const BufferAddress &buffer, ttg::MemDescType type,
                        mlir::RankedTensorType tile, llvm::MutableArrayRef<llvm::Value *> registers) {
    return false;
  }
  virtual bool storeTile(TtgFunctionEmitter &emitter, const BufferAddress &buffer, ttg::MemDescType type,
                         mlir::RankedTensorType tile, llvm::ArrayRef<llvm::Value *> registers) {
    return false;
  }
  /// Whether there is an instruction for the copy, beside its size.
  virtual bool copiesAsync(const AsyncCopy &copy) const { return copy.others.empty(); }
  /// Starts a copy. Copies are committed in groups; the wait leaves the last `numPending` groups pending.
  virtual void copyAsync(IrBuilder &ir, const AsyncCopy &copy) = 0;
  virtual void commitCopies(IrBuilder &ir) = 0;
  virtual void waitForCopies(IrBuilder &ir, unsigned numPending) = 0;

  // Output for the user while a kernel runs.
  /// `format` is a printf format; values are integers of 32 and 64 bits and f64.
  virtual void print(IrBuilder &ir, llvm::StringRef format, llvm::ArrayRef<llvm::Value *> values) = 0;
  virtual void fail(IrBuilder &ir, const Failure &failure) = 0;

  // Arithmetic of integers.
  /// The upper half of the bits of a * b; null where there is no instruction for it.
  virtual llvm::Value *mulHigh(IrBuilder &, llvm::Value *, llvm::Value *, bool /*isSigned*/) { return nullptr; }

  // Arithmetic of floats.
  /// `x` limited to [-limit, limit]; null where there is no instruction for it.
  virtual llvm::Value *clampMagnitude(IrBuilder &, llvm::Value * /*x*/, llvm::Value * /*limit*/, bool /*keepsNan*/) {
    return nullptr;
  }
  // Arithmetic of f32, within 2 units in the last place. Null where nothing is faster than the exact form.
  virtual llvm::Value *approxDivide(IrBuilder &ir, llvm::Value *a, llvm::Value *b) = 0;
  virtual llvm::Value *approxMath(IrBuilder &ir, ApproxMath function, llvm::Value *x) = 0;
  /// Properties for the code of functions that have no instruction.
  virtual const math::HostMath &mathFeatures() const = 0;

  /// The path that the user gave for a library of this name, or without one for a library with that symbol; empty where
  /// none was given.
  virtual llvm::StringRef externLibrary(llvm::StringRef /*name*/, llvm::StringRef /*symbol*/) { return ""; }
  /// Calls a function of a library; null where the target has none of that name with these types.
  virtual llvm::Value *callExtern(IrBuilder &ir, const ExternCall &call) = 0;
  /// Completes "no function of ..." where the call names a library.
  virtual std::string describeLack(const ExternCall &call) { return "`" + call.libraryPath.str() + "`"; }

  // Conversions.
  /// Converts f32 to floats of 16 bits and fewer, rounded to nearest even or towards zero; values out of range of a
  /// format without infinity become its largest number. Results have their format's LLVM type, or i8. Null where the
  /// target has no instruction.
  virtual llvm::Value *narrow(IrBuilder &ir, llvm::Value *single, mlir::Type to, bool towardZero) = 0;
  /// The i16 of two results of `narrow` as bytes, converted by one instruction; null where they are not such.
  virtual llvm::Value *narrowPair(IrBuilder &, llvm::Value * /*low*/, llvm::Value * /*high*/) { return nullptr; }
  /// Converts fp8 to f32; null where the target has no instruction.
  virtual llvm::Value *widenFp8(IrBuilder &ir, llvm::Value *byte, mlir::Type from) = 0;
};

} // namespace nereid::lowering
