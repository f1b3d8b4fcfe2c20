// The loops of a nest around the insert point.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

namespace nereid::cpu {

/// Level 0 is before all loops; each further one is the body of the loop over a dimension of Nest::order.
class NestLevels {
public:
  NestLevels(EmitContext &context, const Nest &nest);

  unsigned count() const { return levels.size(); }
  /// The level that the loop over the vector dimension opens; 0 where there is none.
  unsigned vectorLevel() const { return vector; }
  unsigned depthOf(unsigned dim) const { return depths[dim]; }
  /// The outermost level at which all indices of the map are known.
  unsigned of(const IndexMap &map) const;
  llvm::Value *index(unsigned level) const { return levels[level].index; }
  llvm::Value *indexOf(unsigned dim) const { return levels[depths[dim]].index; }

  /// Emits the branch to `after` that level 0 ends with, at the insert point.
  void begin(llvm::BasicBlock *after) { levels[0].anchor = ir.CreateBr(after); }
  /// Continues before the end of the level.
  void insertAt(unsigned level) {
    ir.SetInsertPoint(levels[level].anchor);
    restoreLocation();
  }
  /// Of the instructions that follow.
  void setLocation(mlir::Location at) {
    context.frame.setLocation(at);
    location = ir.getCurrentDebugLocation();
  }
  void restoreLocation() { ir.SetCurrentDebugLocation(location); }

  /// for (i = begin; i < end; i += step) at the end of the enclosing level, rotated; downwards where a root says so.
  mlir::LogicalResult emitLoop(unsigned level, llvm::Value *begin, llvm::Value *end, unsigned step,
                               llvm::function_ref<mlir::LogicalResult()> body);
  /// Whether the loop runs from the last index to the first, as that of a reverse scan over its axis.
  bool isDownwards(unsigned level) const;

private:
  struct Level {
    llvm::Instruction *anchor = nullptr; ///< instructions are inserted before it
    llvm::Value *index = nullptr;        ///< of the loop that opens the level
  };

  EmitContext &context;
  llvm::IRBuilder<> &ir;
  const Nest &nest;
  std::vector<Level> levels;
  llvm::SmallVector<unsigned, 4> depths; ///< by dimension: the level that its loop opens
  unsigned vector = 0;
  llvm::DebugLoc location;
};

} // namespace nereid::cpu
