// The plan of a kernel: loop nests over register-sized vectors, buffers, and their order.
// SPDX-License-Identifier: MIT
//
// A tile's elements are computed where they are used, inside the nest of a root (a store, a reduction, a tile that is
// kept). A plan defines which roots share a nest, how each nest runs, which tiles are in buffers of the thread's arena,
// and which loads need a copy because a store may overwrite what they read. Scalars are placed between the nests in
// program order.
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/target/cpu/plan/Affine.h"
#include "compiler/target/cpu/plan/IndexMap.h"
#include "compiler/target/cpu/plan/RootTraits.h"
#include "compiler/target/cpu/prepare/DotForm.h"

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseSet.h"

#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace nereid::cpu {

using BufferId = unsigned;

/// A tile in the arena, i1 as bytes; row-major, but for the innermost dimension.
struct Buffer {
  mlir::Type element;
  llvm::SmallVector<int64_t, 4> shape;
  int innermost = -1; ///< the dimension of adjacent elements; -1: the last

  unsigned innermostDim() const { return innermost < 0 ? shape.size() - 1 : innermost; }
  /// Calls `body` with each dimension of a tile of that rank, from that of adjacent elements on.
  void forEachDim(size_t rank, llvm::function_ref<void(size_t)> body) const {
    if (innermost >= 0)
      body(innermost);
    for (size_t dim = rank; dim-- > 0;)
      if (static_cast<int>(dim) != innermost)
        body(dim);
  }
  const char *purpose = "";
  bool isDouble = false; ///< a carried tile whose old value is read while the new one is written
  unsigned tiles = 1;    ///< number of tiles in the buffer of a kept operand: one for each iteration
  uint64_t offset = 0;
  uint64_t bytes = 0; ///< size of one of the two buffers, where double, or of one of the tiles
  uint64_t allBytes() const { return bytes * (isDouble ? 2 : tiles); }
  uint64_t elements() const {
    return std::accumulate(shape.begin(), shape.end(), uint64_t(1), std::multiplies<uint64_t>());
  }
  uint64_t bytesOfTile() const; ///< from the start of a tile to the start of the next tile or buffer
};

enum class RootKind : uint8_t {
  Op,          ///< an op of the table of RootTraits; its results of rank 1 and more go to buffers
  Materialise, ///< a value that later nests read from its buffer
  Assign,      ///< a carried tile's next value, an operand of a dot, or a dot's initial accumulator
};

struct Root {
  RootKind kind = RootKind::Op;
  mlir::Operation *op = nullptr; ///< the op of RootKind::Op; of an Assign the loop, or the op that reads the buffer
  mlir::Value value;             ///< the tile that a Materialise or Assign writes
  llvm::SmallVector<BufferId, 1> buffers;
  uint64_t offset = 0;                ///< elements before the tile of an Assign in its buffer
  const RootTraits *traits = nullptr; ///< the record of the op; null for other kinds
  /// The buffer that a Materialise or a dot's operand is written to first, to be transposed into the root's buffer,
  /// whose innermost dimension is another.
  std::optional<BufferId> staging{};

  /// The buffer that the nest of a Materialise or Assign writes.
  BufferId written() const { return staging ? *staging : buffers.front(); }
  bool isWrite() const { return traits && traits->isWrite; }
  /// The access of a write.
  tt::MemoryAccessOpInterface access() const { return llvm::cast<tt::MemoryAccessOpInterface>(op); }
  /// The dimension that the root combines elements of; -1: none.
  int axis() const { return traits && traits->axis ? static_cast<int>(traits->axis(op)) : -1; }
};

/// A prefix mask found in a nest; `dim` is a dimension of the nest.
struct NestMask {
  PrefixMask prefix;
  mlir::Value compare;
};

/// A part of a load's or store's mask that does not depend on the vector dimension.
struct NestCondition {
  mlir::Value value;
  IndexMap map;
};

/// A case of a nest that has a version of its own.
enum class VersionKind : uint8_t {
  Kept,           ///< an earlier program has made the tile of LoopPlan::keptOperands: nothing runs
  InPlace,        ///< all that the load reads is in memory: it is not copied
  Exact,          ///< an addition that one of the comparisons has as operand overflows: none of them is a prefix
  Uncopied,       ///< none of the loads has been copied by its guard
  FirstIteration, ///< the first iteration of the loop: carried tiles are constants
};

/// A case that the kernel tests before the nest.
struct NestVersion {
  VersionKind kind = VersionKind::Kept;
  llvm::SmallVector<mlir::Operation *, 2> ops; ///< the load, comparisons, loads or loop of the case
};

/// Lanes of a vector, `most` (a power of two) or fewer, of which whole vectors cover the extent.
inline unsigned lanesDividing(uint64_t extent, unsigned most) {
  return std::min<uint64_t>(most, extent & (~extent + 1));
}

struct Nest {
  unsigned id = 0;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<unsigned, 4> order; ///< dimensions from the outermost loop inwards; none of extent 1
  int vectorDim = -1;                   ///< the dimension whose loop steps by chunks of lanes; -1: the nest has no loop
  unsigned lanes = 1;                   ///< elements of a chunk in the main part
  /// So many elements along the vector dimension, from each multiple on, are the same: the loop visits the first.
  unsigned equalElements = 1;
  unsigned maskedLanes = 1; ///< elements of a chunk where a mask ends or no lane is active: no more than `lanes`
  std::vector<Root> roots;
  llvm::SmallVector<NestMask, 2> masks;
  llvm::SmallVector<NestCondition, 2> conditions;
  llvm::SmallVector<unsigned, 1> assumptions; ///< of affine addresses; where one fails, every chunk is masked
  /// Loads and buffers that are read before the chunk's first root writes.
  llvm::SmallVector<mlir::Value, 2> hoistedReads;
  /// The nest is emitted a second time for the first iteration of this loop, in which the tiles are these constants.
  mlir::Operation *peeledLoop = nullptr;
  llvm::SmallVector<std::pair<mlir::Value, mlir::DenseElementsAttr>, 1> initial;
  /// A load whose copy for a dot this nest makes: skipped where the dot can read memory instead.
  mlir::Operation *inPlace = nullptr;
  /// The index in LoopPlan::keptOperands of the tile that the nest makes: skipped where an earlier program has made the
  /// same tile.
  std::optional<unsigned> keptOperand;
  /// The cases, in the order of their tests; the nest without a version is for all other cases.
  llvm::SmallVector<NestVersion, 2> versions;
  bool isCopy = false; ///< a guard's copy: rarely run, so emitted small; only elements that the mask selects are needed

  bool writesMemory() const {
    return llvm::any_of(roots, [](const Root &root) { return root.isWrite(); });
  }
  /// The axis of the roots, which is the same for all; -1: no root has an axis.
  int axis() const {
    for (const Root &root : roots)
      if (root.axis() >= 0)
        return root.axis();
    return -1;
  }
  bool isOrdered() const {
    return llvm::any_of(roots, [](const Root &root) { return root.traits && root.traits->isOrdered; });
  }
  /// Whether a lane needs the result of the lane before it.
  bool scansLanes() const { return isOrdered() && axis() == vectorDim; }
};

/// A load whose source a later store may overwrite before the load's last use: copied at run time where the ranges
/// overlap.
struct Guard {
  mlir::Operation *load = nullptr;
  BufferId copy = 0;
  struct Conflict {
    mlir::Operation *store = nullptr;
    bool sameIndex = false; ///< one nest, equal maps: no conflict if the pointers are equal and indices share no byte
  };
  llvm::SmallVector<Conflict, 2> conflicts;
};

/// The rows and columns from 0 to these ends; all of them where an end is not known.
struct StoredPart {
  std::optional<Polynomial> rows, columns;
};

/// A dot of tiles in buffers: d += a * b.
struct TileDot {
  struct Operand {
    mlir::Value value; ///< null where the buffer holds a copy made for dots
    BufferId buffer = 0;
    bool isTransposed = false; ///< its last two dimensions are swapped in the buffer
  };
  Operand a, b;
  BufferId d = 0;
  DotForm form;                   ///< groups have as many bits as an accumulator
  std::optional<BufferId> packed; ///< the buffer that `b` is transposed or grouped into
  /// Buffers of one matrix of unsigned `a`, where the form needs it, and of the sums of columns of `b`.
  std::optional<BufferId> unsignedA, columnSums;
  bool startsAtZero = false; ///< the dot overwrites `d`
  /// The number of the loop's iterations whose products are added to `d` at once, where their operands are still there.
  unsigned iterations = 1;
  StoredPart stored; ///< the part of `d` that is stored: the rest may have any values
};

struct Sequence;

enum class StepKind : uint8_t { Scalar, Nest, Guard, Control, Dot };

struct Step {
  StepKind kind = StepKind::Scalar;
  mlir::Operation *op = nullptr; ///< the op of a Scalar, Control or Dot
  std::unique_ptr<Nest> nest;    ///< the nest, or the nest that copies for a Guard
  std::unique_ptr<Guard> guard;
  std::unique_ptr<TileDot> dot;
  std::vector<Sequence> regions; ///< the op's regions; a loop may have one more, for the case of no iteration
};

struct Sequence {
  mlir::Block *block = nullptr;
  std::vector<Step> steps;
};

/// What the steps so far have decided.
enum class PlanState : uint8_t { Sequenced, Vectorised, Versioned, Allocated };

/// An operand of a dot whose tiles a thread keeps for the programs that follow, each with the key that it depends on.
struct KeptOperand {
  /// The number of keys in the buffer: of all tiles, and of the first tiles of some programs, which are compared one by
  /// one.
  static constexpr int64_t mostSets = 16;
  mlir::Operation *loop = nullptr;            ///< each iteration has a tile
  llvm::SmallVector<mlir::Value, 4> scalars;  ///< values that the elements depend on besides memory
  llvm::SmallVector<mlir::Operation *> loads; ///< the loop's loads that the operand is computed from
  BufferId tiles = 0, keys = 0;
  /// Numbers that one call of the kernel leaves for the next one of the same launch.
  static constexpr unsigned stateWords = 8;
  /// The buffer of the keys of the tiles, then of the keys of programs' first tiles.
  static int64_t keyCount(int64_t tiles) { return tiles + mostSets; }
  /// The words of a key: whether there is a tile, then the scalars.
  int64_t wordsOfKey() const { return 1 + static_cast<int64_t>(scalars.size()); }
};

/// A tile that is accessed in the next iteration or by the next program, and prefetched in this one.
struct Prefetch {
  mlir::Operation *access = nullptr;
  Polynomial distance; ///< from this tile to the next one, in bytes
  unsigned nest = 0;   ///< the id of the last nest that accesses the tile
  /// The dot that prefetches while it multiplies; null: the nest prefetches at each access.
  mlir::Operation *dot = nullptr;
};

/// What an iteration of a loop, or a program, prefetches.
struct Prefetches {
  llvm::SmallVector<Prefetch, 2> tiles;
  mlir::Operation *storeAfter = nullptr; ///< a store whose tile the dots prefetch in the loop's last iteration
};

struct LoopPlan {
  PlanState state = PlanState::Sequenced;
  Sequence body;
  std::vector<Buffer> buffers;
  /// Values whose elements are read from a buffer once it has been written.
  llvm::DenseMap<mlir::Value, BufferId> bufferOf;
  /// The buffers that gathers read their source's elements from, at indices that other tiles hold.
  llvm::DenseMap<mlir::Operation *, BufferId> wholeOperands;
  /// For each loop or branch, the buffers of its carried tiles by index; scalars have none.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<std::optional<BufferId>>> carried;
  /// scf.while only: buffers of the values that the condition forwards.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<std::optional<BufferId>>> forwarded;
  std::vector<KeptOperand> keptOperands;
  /// Dots that accumulate in the buffer of a carried tile: in the next iteration's one where it is double.
  llvm::DenseSet<mlir::Value> updates;
  /// For each op that reads tiles as a whole, their buffers by index; scalars have none.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<std::optional<BufferId>>> operandsOf;
  /// The prefetches of each loop; under null those of a program for the next one along the first axis of the grid.
  llvm::DenseMap<mlir::Operation *, Prefetches> prefetches;
  /// The bytes that a program stores outside of loops, where such stores may bypass the caches; else 0.
  uint64_t streamedBytes = 0;
  uint64_t arenaBytes = 0;

  /// The size of the state of all kept operands, at the start of the arena: whether there are tiles, and where.
  uint64_t stateBytes() const {
    return keptOperands.empty() ? 0 : 8 + KeptOperand::stateWords * 8 * keptOperands.size();
  }
  /// Whether the buffer has the tiles of a kept operand of this loop.
  bool isKept(BufferId tiles, mlir::Operation *loop) const {
    return llvm::any_of(keptOperands,
                        [&](const KeptOperand &operand) { return operand.tiles == tiles && operand.loop == loop; });
  }
};

/// Properties of the machine that the plan depends on.
struct CpuFeatures : DotMachine {
  bool hasAvx512 = false;
  bool hasAvx512Bw = false;
  bool hasF16c = false;
  bool hasFma = false;
  bool hasMicrocodedGathers = false; ///< few such gathers fit in the reorder buffer
  uint64_t cacheBytes = 0;           ///< size of the last-level cache; 0 where unknown
};

/// Text of a plan, for people and tests.
std::string print(const LoopPlan &plan, AffineInfo &affineInfo);

} // namespace nereid::cpu
