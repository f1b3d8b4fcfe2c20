// Has stores bypass the caches in a launch that writes more than the last-level cache holds, to pages that exist.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

namespace nereid::cpu {

class Streaming {
public:
  explicit Streaming(EmitContext &context) : context(context), ir(context.ir) {}

  /// Before the programs: compares what they write with the cache.
  void begin();
  /// After the programs.
  void end();
  /// Whether the launch stores more outside loops than the last-level cache holds: such stores may bypass the cache.
  /// Null inside loops and where the cache's size is unknown. Whoever uses the result calls useFence().
  llvm::Value *isWanted() const { return context.program.loopDepth == 0 ? isStreaming : nullptr; }
  void useFence() { needsFence = true; }
  /// Whether stores from this address on bypass the cache, if wanted: asks the system once for each call of the kernel.
  llvm::Value *reaches(llvm::Value *address, llvm::Value *isWanted);

private:
  EmitContext &context;
  llvm::IRBuilder<> &ir;
  llvm::Value *isStreaming = nullptr;
  bool needsFence = false;
};

} // namespace nereid::cpu
