// Translates MLIR locations to LLVM debug locations (line tables).
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Location.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/IRBuilder.h"

#include <memory>

namespace nereid::lowering {

/// Debug information of a module's functions, line tables only. An inlined
/// call's location becomes a subprogram of its own, so that debuggers show the chain.
class DebugInfo {
public:
  using Kind = llvm::DICompileUnit::DebugEmissionKind;
  explicit DebugInfo(llvm::Module &module, Kind kind = Kind::LineTablesOnly) : module(module), kind(kind) {}

  /// Begins the description of `function`, which starts at `location`; the calls that follow are about it. Without a
  /// source position nothing is described, and the other calls do nothing.
  void begin(llvm::Function &function, mlir::Location location);
  void setLocation(llvm::IRBuilderBase &builder, mlir::Location location);
  /// Called once, after the last function.
  void finish();

private:
  llvm::DIFile *fileOf(llvm::StringRef path);
  llvm::DILocation *locate(mlir::Location location, llvm::DILocation *inlinedAt);
  llvm::DISubprogram *subprogram(llvm::StringRef name, llvm::StringRef path, unsigned line);
  void describeUnit(llvm::StringRef path);

  llvm::Module &module;
  Kind kind;
  std::unique_ptr<llvm::DIBuilder> builder;
  llvm::DICompileUnit *unit = nullptr;
  llvm::DISubprogram *scope = nullptr;
  llvm::StringMap<llvm::DIFile *> files;
  llvm::StringMap<llvm::DISubprogram *> inlined;
  llvm::DenseMap<mlir::Attribute, llvm::DILocation *> known;
};

/// The position in a source file that a location stands for; null where there is none.
mlir::FileLineColRange sourcePosition(mlir::Location location);

} // namespace nereid::lowering
