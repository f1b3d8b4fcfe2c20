// Emits one nest: its loops, and in each chunk of lanes the element expressions of its roots.
// SPDX-License-Identifier: MIT
//
// The loop over the vector dimension is emitted in up to three parts:
//   main      every prefix mask and every condition of a mask holds: no masks are emitted
//   masked    the chunk that a prefix ends in (all chunks, where a condition fails)
//   inactive  no prefix holds: masked loads give their `other`, memory is not accessed
// A value that does not depend on an inner loop is emitted before that loop.
#pragma once

#include "compiler/target/cpu/emit/Atomics.h"
#include "compiler/target/cpu/emit/EmitContext.h"
#include "compiler/target/cpu/plan/Masks.h"

namespace nereid::cpu {

/// An element, or the elements of a chunk's lanes.
struct Element {
  llvm::Value *value = nullptr;
  bool isVector = false;
  explicit operator bool() const { return value; }
};

/// Memory that a chunk reads or writes.
struct ChunkAccess {
  llvm::Value *address = nullptr; ///< of the first lane; a vector of addresses where the access is not affine
  llvm::Value *stride = nullptr;  ///< bytes from lane to lane; null for a vector of addresses
  /// Of a vector of addresses that are adjacent unless a remainder wraps: the bytes from the first lane to the last
  /// where it does not wrap between them; else 0.
  int64_t unwrappedBytes = 0;
};

class RootEmitter;

class NestEmitter {
public:
  NestEmitter(EmitContext &context, const Nest &nest);
  ~NestEmitter();
  mlir::LogicalResult run();

  //--- for the emitters of roots ---
  EmitContext &context;
  llvm::IRBuilder<> &ir;
  const Nest &nest;

  unsigned chunkLanes; ///< of the part being emitted

  /// Whether the elements being emitted are those at which no prefix mask holds.
  bool isInactive() const { return mode == Mode::Inactive; }
  /// Continues before the end of the level.
  void insertAt(unsigned level) {
    ir.SetInsertPoint(levels[level].anchor);
    restoreLocation();
  }

  // NestValues.cpp: elements
  Element evaluate(mlir::Value value, const IndexMap &map, unsigned requester);
  llvm::Value *asVector(Element element);
  /// The value that all elements of the inactive part share; nullopt where they differ or are not known to be equal.
  std::optional<Element> inactiveElement(mlir::Value value, unsigned level);

  // NestRegion.cpp: regions
  /// The elements of an op's operands in the chunk, all as vectors.
  mlir::FailureOr<llvm::SmallVector<llvm::Value *>> vectorsOf(mlir::Operation *op, unsigned level);
  /// The region's results for these arguments: scalars, or vectors of a chunk's lanes.
  mlir::FailureOr<llvm::SmallVector<llvm::Value *>> applyRegion(mlir::Block &body, llvm::ArrayRef<llvm::Value *> args);
  mlir::FailureOr<llvm::SmallVector<llvm::Value *>> combine(const Root &root, llvm::ArrayRef<llvm::Value *> left,
                                                            llvm::ArrayRef<llvm::Value *> right);

  // NestAddresses.cpp: where memory is accessed
  /// The chunk's index in a tile of the nest's shape: no loop runs over dimensions of extent 1.
  IndexMap chunkMap() const;
  ChunkAccess accessOf(mlir::Value pointer, const IndexMap &map, mlir::Operation *load);
  /// The elements of a tile that the buffer, or a part of it at `base`, holds.
  ChunkAccess bufferAccess(llvm::Value *base, BufferId buffer, mlir::Type tile, const IndexMap &map);
  /// The address of a tile's first element, computed without the nest's loops; null after an error.
  llvm::Value *firstAddress(mlir::Value pointer);
  llvm::Value *laneAddress(ChunkAccess access, llvm::Value *lane);

  // NestMemory.cpp: memory
  /// Prefetches what the same lanes will access in the next iteration or program, where that is planned.
  void prefetchNext(mlir::Operation *op, ChunkAccess access, mlir::Type element);
  void write(ChunkAccess access, mlir::Type element, llvm::Value *value, llvm::Value *mask);
  void writeElement(Element element, mlir::Value tile, BufferId buffer, unsigned level);
  /// Runs `body` with the number (i32) of each set lane, or of every lane without a mask, in ascending order.
  void forEachLane(llvm::Value *mask, llvm::function_ref<void(llvm::Value *)> body);
  /// Runs `body` where the condition holds, at the insert point. LLVM runs a few instructions in any case, to save the
  /// branch, unless the condition rarely holds.
  void emitWhere(llvm::Value *condition, llvm::function_ref<void()> body, bool isRare = false);

private:
  enum class Mode : uint8_t { Main, Masked, Inactive };

  /// The values emitted at one depth of loops; depth 0 is before all loops.
  struct Level {
    llvm::Instruction *anchor = nullptr; ///< instructions are inserted before it
    llvm::Value *index = nullptr;        ///< of the loop that opened the level
    llvm::DenseMap<std::pair<mlir::Value, uint64_t>, Element> elements;
    llvm::DenseMap<std::pair<const void *, const void *>, llvm::Value *> addresses;
  };

  //--- Nest.cpp: loops ---
  mlir::LogicalResult emitLevel(unsigned level);
  mlir::LogicalResult emitVectorLevel(unsigned level);
  mlir::LogicalResult emitMain(unsigned level, llvm::Value *end);
  llvm::Value *canStream(unsigned level);
  mlir::LogicalResult emitLoopPart(unsigned level, Mode mode, llvm::Value *begin, llvm::Value *end);
  mlir::LogicalResult emitLoop(unsigned level, llvm::Value *begin, llvm::Value *end, unsigned step);
  mlir::LogicalResult emitChunk(unsigned level);
  mlir::LogicalResult finishRoots(unsigned level);
  void computeBounds();
  void setReady(const Root &root);
  mlir::LogicalResult emitAxisLoop(unsigned level);
  llvm::Value *outerEnd(unsigned dim);
  const Polynomial *onlyBound(unsigned dim) const;
  llvm::Value *writeEnd(const Root &root, llvm::Value *fallback);
  bool endsWithPrefix(const Root &root);
  llvm::Value *allConditions();
  bool isBounded(unsigned dim) const { return bounded >> dim & 1; }
  llvm::Value *clampedBound(const Polynomial &bound, unsigned dim);
  bool walksDownwards(unsigned level) const;
  bool beginsRoots(unsigned level) const;

  //--- NestValues.cpp: elements ---
  Element compute(mlir::Value value, const IndexMap &map, unsigned level);
  Element computeOp(mlir::OpResult result, const IndexMap &map, unsigned level);
  bool isWorthRemembering(mlir::Operation *op, const IndexMap &map, unsigned level);
  llvm::Value *emitUnlessRepeated(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands, unsigned level);
  Element prefixElement(const PrefixMask &prefix, mlir::Value value, const IndexMap &map, unsigned level);
  Element rangeElement(int64_t start, const IndexMap &map);
  std::optional<bool> known(mlir::Value value, const IndexMap &map, unsigned requester, unsigned depth = 0);
  bool isCounted(unsigned dim, const Polynomial &bound) const;
  bool isUniformWhenInactive(mlir::Value value, const IndexMap &map, unsigned depth = 0);
  bool findUniformWhenInactive(mlir::Value value, const IndexMap &map, unsigned depth);
  void evaluateInOrder(unsigned level);
  bool comparesUniformly(mlir::Value value, const IndexMap &map);
  Element firstLane(mlir::Value value, const IndexMap &map, unsigned requester);
  std::optional<int64_t> chunkStride(mlir::Value value, const IndexMap &map);
  uint64_t elementKey(const IndexMap &map) const;
  unsigned levelOf(const IndexMap &map) const;
  bool isVectorMap(const IndexMap &map) const;
  void restoreLocation() { ir.SetCurrentDebugLocation(location); }
  llvm::Value *indexOf(unsigned dim) { return levels[depthOf[dim]].index; }

  //--- NestAddresses.cpp ---
  ChunkAccess addressedBy(mlir::Value pointer, const IndexMap &map, const Redirect *redirect);
  ChunkAccess orCopied(ChunkAccess access, const Redirect &redirect, tt::LoadOp load, const IndexMap &map);
  llvm::Value *addressAt(llvm::Value *base, llvm::ArrayRef<llvm::Value *> strides, const IndexMap &map);
  int64_t unwrappedBytes(mlir::Value pointer, const IndexMap &map);

  //--- NestMemory.cpp ---
  Element loadElement(mlir::Operation *load, const IndexMap &map, unsigned level);
  llvm::Value *read(ChunkAccess access, mlir::Type element, llvm::Value *mask, llvm::Value *other);
  llvm::Value *readUnlessWrapped(ChunkAccess access, mlir::Type element, llvm::Value *mask, llvm::Value *other);
  llvm::Value *readWhere(llvm::Value *condition, ChunkAccess access, mlir::Type element, llvm::Value *other);
  llvm::Value *readWords(ChunkAccess access, llvm::FixedVectorType *type);
  llvm::Value *gatherFromWords(ChunkAccess access, llvm::FixedVectorType *type, llvm::Value *mask, llvm::Value *other);
  llvm::Value *readLanes(ChunkAccess access, llvm::Type *memory, llvm::Value *mask, llvm::Value *other);
  bool hasMaskedVectors(llvm::Type *memory) const;
  void forEachMaskedPart(llvm::Type *memory, llvm::function_ref<void(unsigned firstLane, unsigned lanes)> body);
  using LaneParts = llvm::DenseMap<llvm::Value *, llvm::Value *>; ///< of values, for the same lanes
  llvm::Value *partOf(llvm::Value *vector, unsigned firstLane, unsigned lanes, LaneParts &known, unsigned depth = 0);
  llvm::Value *maskedLoad(ChunkAccess access, llvm::Type *memory, llvm::Align align, llvm::Value *mask,
                          llvm::Value *other);
  void maskedStore(ChunkAccess access, llvm::Type *memory, llvm::Align align, llvm::Value *mask, llvm::Value *value);
  void writeTile(const Root &root, unsigned level, bool isNext);
  void writeAt(llvm::Value *base, BufferId buffer, Element element, mlir::Type tile, unsigned level);

  //--- NestGather.cpp ---
  /// An element of an op of that file; nothing for other ops.
  std::optional<Element> movedElement(mlir::Operation *op, const IndexMap &map, unsigned level);
  Element joinElement(mlir::Operation *op, const IndexMap &map, unsigned level);
  Element gatherElement(mlir::Operation *op, const IndexMap &map, unsigned level);
  Element xorElement(ChunkAccess row, mlir::Type element, int64_t distance, unsigned level);
  llvm::Value *boundedIndex(llvm::Value *index, int64_t extent);

  std::vector<Level> levels;
  llvm::SmallVector<unsigned, 4> depthOf; ///< by dimension: the level that its loop opens
  unsigned vectorLevel = 0;
  Mode mode = Mode::Main;
  bool inactiveScalar = false; ///< evaluates the value that all inactive lanes share
  bool firstLaneOnly = false;  ///< evaluates the first lane of the chunk
  bool isFailed = false;
  bool isStreaming = false;       ///< stores bypass the cache
  std::optional<bool> isInPrefix; ///< in a part of the loop over the axis inside of a chunk
  uint32_t bounded = 0;           ///< outer dimensions whose loop ends where their prefix does
  llvm::Value *leastBound = nullptr, *greatestBound = nullptr; ///< of the vector dimension's prefixes
  llvm::Value *assumption = nullptr;                           ///< of the main part's addresses
  std::vector<std::unique_ptr<RootEmitter>> rootEmitters;      ///< of the nest's roots, by index; null: not an Op
  llvm::DenseMap<std::pair<mlir::Value, uint64_t>, bool> uniformWhenInactive;
  llvm::DebugLoc location;
};

} // namespace nereid::cpu
