// The table of built-ins; the compiler, the Python names, the stubs and the reference page are derived from it.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/Value.h"
#include "compiler/support/SourceFile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace nereid::sema {

class TtFunctionEmitter;

/// A parameter; `defaultText` is a Python literal (`None`, `0`, `""`, `False`, `()`), empty for a required parameter. A
/// name that starts with `*` takes all further positional arguments as one tuple.
struct BuiltinParam {
  llvm::StringRef name;
  llvm::StringRef defaultText = "";
};

/// One call of a built-in: its arguments in the order of its parameters.
struct CallSite {
  TtFunctionEmitter &emitter;
  const Builtin &builtin;
  support::SourceRange range;                     ///< the whole call
  llvm::ArrayRef<Value> args;                     ///< one per parameter, defaults filled in
  llvm::ArrayRef<support::SourceRange> argRanges; ///< where each was written; the call's range for defaults

  const Value &operator[](llvm::StringRef parameter) const;
  support::SourceRange rangeOf(llvm::StringRef parameter) const;
  /// Whether the call gives the argument, rather than its default.
  bool isGiven(llvm::StringRef parameter) const;
};

/// A built-in's module, name, parameters and properties.
struct Builtin {
  llvm::StringRef name;
  llvm::StringRef module; ///< "triton.language", "triton.language.math" ...
  llvm::SmallVector<BuiltinParam, 4> params;
  llvm::StringRef doc; ///< one line
  Value (*emit)(const CallSite &);
  bool isMember = false;              ///< also a method of tensors
  llvm::StringRef mustUseResult = ""; ///< dropping the result is an error; the text says what to do instead
  bool ignoresKeywords = false;       ///< keywords other than its parameters have no effect, rather than being errors
};

/// All built-ins of a family; the registry concatenates these.
llvm::ArrayRef<Builtin> programBuiltins();
llvm::ArrayRef<Builtin> creationBuiltins();
llvm::ArrayRef<Builtin> memoryBuiltins();
llvm::ArrayRef<Builtin> atomicBuiltins();
llvm::ArrayRef<Builtin> blockPointerBuiltins();
llvm::ArrayRef<Builtin> descriptorBuiltins();
llvm::ArrayRef<Builtin> elementwiseBuiltins();
llvm::ArrayRef<Builtin> shapeBuiltins();
llvm::ArrayRef<Builtin> joinBuiltins();
llvm::ArrayRef<Builtin> gatherBuiltins();
llvm::ArrayRef<Builtin> reduceBuiltins();
llvm::ArrayRef<Builtin> scanBuiltins();
llvm::ArrayRef<Builtin> mapBuiltins();
llvm::ArrayRef<Builtin> controlBuiltins();
llvm::ArrayRef<Builtin> debugBuiltins();
llvm::ArrayRef<Builtin> hintBuiltins();
llvm::ArrayRef<Builtin> dotBuiltins();
llvm::ArrayRef<Builtin> externBuiltins();
llvm::ArrayRef<Builtin> targetBuiltins();
// Of Gluon's language (gluon/).
llvm::ArrayRef<Builtin> gluonLayoutBuiltins();
llvm::ArrayRef<Builtin> gluonTileBuiltins();
llvm::ArrayRef<Builtin> gluonProgramBuiltins();
llvm::ArrayRef<Builtin> gluonAmdBufferBuiltins();
llvm::ArrayRef<Builtin> gluonAmdMatrixBuiltins();
llvm::ArrayRef<Builtin> gluonAmdCopyBuiltins();
llvm::ArrayRef<Builtin> gluonAmdStageBuiltins();
llvm::ArrayRef<Builtin> gluonTypeBuiltins();
llvm::ArrayRef<Builtin> gluonWarpBuiltins();
llvm::ArrayRef<Builtin> gluonAsyncCopyBuiltins(); // gluon/nvidia/
llvm::ArrayRef<Builtin> gluonMbarrierBuiltins();
llvm::ArrayRef<Builtin> gluonTmaBuiltins();
llvm::ArrayRef<Builtin> gluonNvidiaMatrixBuiltins();
llvm::ArrayRef<Builtin> gluonClusterBuiltins();

/// Every built-in, sorted by module and name.
llvm::ArrayRef<const Builtin *> allBuiltins();
/// The built-in `module`.`name`, or null.
const Builtin *findBuiltin(llvm::StringRef module, llvm::StringRef name);
/// The module whose built-ins `module` shares: `tl` for `tl.core`, `tl.random` and `tl.standard`; else `module` itself.
llvm::StringRef canonicalModule(llvm::StringRef module);
/// The built-in that is the tensor method of that name, or null.
const Builtin *findMember(llvm::StringRef name);
/// Whether `name` is a module with built-ins or a package of such modules ("triton", "triton.language").
bool isBuiltinModule(llvm::StringRef name);

} // namespace nereid::sema
