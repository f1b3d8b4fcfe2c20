// Evaluates element expressions, each value once per level.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/nest/MaskAnalysis.h"

namespace nereid::cpu {

class ElementEmitter {
public:
  explicit ElementEmitter(NestContext &context)
      : context(context), nest(context.nest), chunk(context.chunk), masks(context), known(context.levels.count()) {}

  /// Forgets the elements of the level's last iteration.
  void beginLevel(unsigned level) { known[level].clear(); }
  /// The elements of a value in the chunk; the requester is the level that needs them.
  Element evaluate(mlir::Value value, const IndexMap &map, unsigned requester);
  /// The same of the chunk's first lane alone.
  Element firstLane(mlir::Value value, const IndexMap &map, unsigned requester);
  /// The value that all elements of the inactive part share; nullopt where they differ or are not known to be equal.
  std::optional<Element> inactiveElement(mlir::Value value, unsigned level);
  /// Evaluates deep expressions from the leaves up, so that the recursion of `evaluate` ends after one step.
  void evaluateInOrder(unsigned level);
  /// Has later requests find an element that has been emitted.
  void remember(mlir::Value value, const IndexMap &map, unsigned level, Element element) {
    known[level][{value, elementKey(map)}] = element;
  }
  /// The distance of the chunk's lanes where they are equally spaced; nullopt where they are not known to be.
  std::optional<int64_t> chunkStride(mlir::Value value, const IndexMap &map) const;
  /// Whether a diagnostic has been reported: no element is evaluated from then on.
  bool hasFailed() const { return isFailed; }

private:
  Element compute(mlir::Value value, const IndexMap &map, unsigned level);
  Element emitPrefix(const PrefixMask &prefix, mlir::Value value, const IndexMap &map, unsigned level);
  bool isOneInChunk(mlir::Value value, const IndexMap &map) const;
  uint64_t elementKey(const IndexMap &map) const;

  NestContext &context;
  const Nest &nest;
  Chunk &chunk;
  MaskAnalysis masks;
  /// By level, value and key of the index map.
  std::vector<llvm::DenseMap<std::pair<mlir::Value, uint64_t>, Element>> known;
  bool isFailed = false;
};

} // namespace nereid::cpu
