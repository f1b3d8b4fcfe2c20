// What differs between GPU vendors when tiles become LLVM IR: ids, barriers, shuffles, memory accesses, quick
// arithmetic. SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/ttg/MmaKind.h"
#include "compiler/math/Math.h"

#include "llvm/IR/IRBuilder.h"

namespace nereid::lowering {

struct WgmmaDot;
class TmaEmitter;

using IrBuilder = llvm::IRBuilder<>;

/// One access of a thread to global memory: `numWords` words at `pointer + byteOffset`, aligned to all of them
/// together. Where `mask` (i1, null: always) is false nothing is touched.
struct GlobalAccess {
  llvm::Value *pointer = nullptr;
  int64_t byteOffset = 0;
  llvm::Type *wordType = nullptr; ///< an integer of 8 to 64 bits
  unsigned numWords = 1;          ///< 1, 2 or 4; 128 bits together at most
  llvm::Value *mask = nullptr;
  tt::CacheModifier cache = tt::CacheModifier::NONE;
  tt::EvictionPolicy evict = tt::EvictionPolicy::NORMAL;
  bool isVolatile = false;
};

/// One atomic access of a thread to global memory. `value` is an integer or float of 16 to 64 bits, or a vector of
/// float neighbours of up to 16 bytes. Where `mask` (i1, null: always) is false nothing is touched.
struct AtomicAccess {
  llvm::Value *pointer = nullptr;
  int64_t byteOffset = 0;
  bool isLoad = false;         ///< gives what memory holds; `value` is there for its type, an integer of 8 to 64 bits
  bool isStore = false;        ///< writes `value`, such an integer, and gives nothing
  std::optional<tt::RMWOp> op; ///< none: compare and swap, if neither of these
  llvm::Value *value = nullptr;
  llvm::Value *compared = nullptr;
  llvm::Value *mask = nullptr;
  tt::MemSemantic semantic = tt::MemSemantic::ACQUIRE_RELEASE;
  tt::MemSyncScope scope = tt::MemSyncScope::GPU;
  bool isUsed = true; ///< what memory held before
};

/// A copy from global to shared memory that a thread starts; both places are aligned to `bytes`: 4, 8 or 16. Where
/// `mask` (i1, null: always) is false zeros are written.
struct AsyncCopy {
  llvm::Value *source = nullptr;
  int64_t sourceOffset = 0;
  llvm::Value *target = nullptr;
  int64_t targetOffset = 0;
  unsigned bytes = 0;
  llvm::Value *mask = nullptr;
  tt::CacheModifier cache = tt::CacheModifier::NONE;
};

/// What a thread says when it ends the launch.
struct Failure {
  llvm::StringRef message, file, function;
  unsigned line = 0;
};

/// What the instructions that combine all lanes of a warp can do.
enum class WarpReduction : uint8_t { Add, MinSigned, MaxSigned, MinUnsigned, MaxUnsigned, And, Or, Xor };

/// Functions of one float that a target may have a quick form of.
enum class ApproxMath : uint8_t { Exp, Exp2, Sqrt, Rsqrt };

/// A function of a library on one element of each operand.
struct ExternCall {
  llvm::StringRef symbol;
  llvm::StringRef libraryPath; ///< a file of LLVM bitcode; empty: the target's own library
  llvm::ArrayRef<llvm::Value *> arguments;
  llvm::Type *result = nullptr;
};

/// What a kernel's function is told about its launch.
struct LaunchBounds {
  unsigned numThreads = 0;
  unsigned maxRegisters = 0; ///< 0: no limit
};

class TargetEmitter {
public:
  virtual ~TargetEmitter();

  // Program.
  virtual unsigned threadsPerWarp() const = 0;
  /// Calling convention and launch bounds.
  virtual void markKernel(llvm::Function &function, const LaunchBounds &bounds) = 0;
  virtual llvm::Value *programId(IrBuilder &ir, unsigned axis) = 0;
  virtual llvm::Value *numPrograms(IrBuilder &ir, unsigned axis) = 0;
  /// The thread's number in its block, below `numThreads`.
  virtual llvm::Value *threadId(IrBuilder &ir, unsigned numThreads) = 0;
  /// All threads of the block meet; their accesses to shared and global memory before it are seen by all after it.
  virtual void barrier(IrBuilder &ir) = 0;

  // Warps. Words are i32.
  virtual llvm::Value *shuffleXor(IrBuilder &ir, llvm::Value *word, unsigned laneMask) = 0;
  virtual llvm::Value *shuffleIndex(IrBuilder &ir, llvm::Value *word, llvm::Value *lane) = 0;
  /// The combination of an i32 over all lanes; null where there is no instruction for it.
  virtual llvm::Value *reduceWarp(IrBuilder &ir, WarpReduction kind, llvm::Value *word) = 0;

  // Memory.
  /// The words read; where the mask is false, `others`.
  virtual llvm::SmallVector<llvm::Value *, 4> loadGlobal(IrBuilder &ir, const GlobalAccess &access,
                                                         llvm::ArrayRef<llvm::Value *> others) = 0;
  virtual void storeGlobal(IrBuilder &ir, const GlobalAccess &access, llvm::ArrayRef<llvm::Value *> words) = 0;
  /// Stores words, as many and as wide as in a global access, side by side to shared memory where `mask` (null: always)
  /// is true.
  virtual void storeShared(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *pointer, int64_t byteOffset,
                           llvm::Value *mask) = 0;
  virtual unsigned sharedAddressSpace() const = 0;
  /// What memory held before, which is open where the mask is false; null, with nothing emitted, where there is no
  /// instruction for the access. Of an access that is not used some value.
  virtual llvm::Value *atomicGlobal(IrBuilder &ir, const AtomicAccess &access) = 0;
  /// LLVM's name of a scope; its own atomic accesses stand in for instructions that are not there.
  virtual llvm::StringRef scopeName(tt::MemSyncScope scope) const = 0;
  virtual bool hasLdmatrix() const = 0;
  virtual bool hasStmatrix() const { return false; }
  /// For each of `count` (1, 2 or 4) matrices of 8 rows of 16 bytes in shared memory an i32, as layout::LdStMatrixPlan
  /// says.
  virtual llvm::SmallVector<llvm::Value *, 8> ldmatrix(IrBuilder &ir, llvm::Value *row, int64_t byteOffset,
                                                       unsigned count, bool isTransposed) = 0;
  /// The other way round: a lane's words, one a matrix, go to rows as loads take them from there.
  virtual void stmatrix(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *row, int64_t byteOffset,
                        bool isTransposed);
  /// Starts a copy; groups of them are closed and waited for, all but the last `numPending`.
  virtual void copyAsync(IrBuilder &ir, const AsyncCopy &copy) = 0;
  virtual void commitCopies(IrBuilder &ir) = 0;
  virtual void waitForCopies(IrBuilder &ir, unsigned numPending) = 0;

  // What the user sees while a kernel runs.
  /// `format` is printf's; values are integers of 32 and 64 bits and f64.
  virtual void print(IrBuilder &ir, llvm::StringRef format, llvm::ArrayRef<llvm::Value *> values) = 0;
  virtual void fail(IrBuilder &ir, const Failure &failure) = 0;

  // Arithmetic of f32, within 2 units in the last place. Null where there is no quicker form than the exact one.
  virtual llvm::Value *approxDivide(IrBuilder &ir, llvm::Value *a, llvm::Value *b) = 0;
  virtual llvm::Value *approxMath(IrBuilder &ir, ApproxMath function, llvm::Value *x) = 0;
  /// For functions that have no instruction.
  virtual const math::HostMath &mathFeatures() const = 0;

  /// Null where the target has no such function with these types.
  /// The path that the user gave for a library of this name; empty where none was given.
  virtual llvm::StringRef externLibrary(llvm::StringRef name) const { return ""; }
  virtual llvm::Value *callExtern(IrBuilder &ir, const ExternCall &call) = 0;

  // Matrices, where tiles have the layouts of matrix instructions.
  /// Four sums of a box of 16 x 8 in a warp with the products of two steps along k added: rows g and g + 8, two columns
  /// each. Words are i32, or f64: of `a` rows g and g + 8 of the first step, then of the second; of `b` one a step.
  virtual llvm::SmallVector<llvm::Value *, 4> emitMma(IrBuilder &ir, ttg::MmaKind kind, llvm::ArrayRef<llvm::Value *> a,
                                                      llvm::ArrayRef<llvm::Value *> b,
                                                      llvm::ArrayRef<llvm::Value *> accumulators) = 0;
  /// The sums of a product by groups of four warps, whose matrices may still be read where it does not wait.
  virtual llvm::SmallVector<llvm::Value *> emitWgmma(IrBuilder &ir, const WgmmaDot &dot) = 0;
  /// Waits until at most `pendings` products are not done; the sums come through it.
  virtual llvm::SmallVector<llvm::Value *> waitForWgmma(IrBuilder &ir, unsigned pendings,
                                                        llvm::ArrayRef<llvm::Value *> accumulators) = 0;
  /// Orders the thread's accesses to shared memory before those that units make by themselves after the next barrier.
  virtual void fenceAsyncShared(IrBuilder &ir) = 0;
  /// The address of a pointer to shared memory, in bytes from the start of the block's, an i32.
  virtual llvm::Value *sharedAddress(IrBuilder &ir, llvm::Value *pointer) = 0;
  /// The engine that copies blocks of arrays; null where there is none.
  virtual TmaEmitter *tma() { return nullptr; }
  /// The f32 with 10 bits of fraction that is nearest.
  virtual llvm::Value *roundToTf32(IrBuilder &ir, llvm::Value *single) = 0;

  // Conversions.
  /// Floats of 16 bits and fewer from f32, rounded to nearest even or towards zero; what is beyond a format without
  /// infinity becomes its largest number. The results have their formats' LLVM types, or i8. Null where the target has
  /// no instruction.
  virtual llvm::Value *narrow(IrBuilder &ir, llvm::Value *single, mlir::Type to, bool towardZero) = 0;
  /// f32 from a format of 8 bits; null where the target has no instruction.
  virtual llvm::Value *widenFp8(IrBuilder &ir, llvm::Value *byte, mlir::Type from) = 0;
};

} // namespace nereid::lowering
