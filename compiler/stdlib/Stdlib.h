// The embedded library of functions written in Triton, parsed at first use.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/SourceFile.h"
#include "compiler/syntax/Ast.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>

namespace nereid::stdlib {

/// One file of compiler/stdlib, embedded in the binary.
struct Source {
  llvm::StringRef name; ///< "reduce.py"
  llvm::StringRef text;
};
llvm::ArrayRef<Source> sources();

/// One function of the library.
struct Function {
  llvm::StringRef name;
  llvm::StringRef module; ///< "triton.language"
  bool isMember = false;  ///< also a method of tensors
  std::string doc;        ///< its docstring
  std::shared_ptr<support::SourceFile> file;
  std::shared_ptr<syntax::AstContext> arena;
  const syntax::FunctionDef *definition = nullptr;
};

/// All functions, in the order of files and lines. Names that start with `_` are private to the library.
llvm::ArrayRef<Function> functions();
/// The function `module`.`name`; an empty module searches all modules. Null where there is none.
const Function *find(llvm::StringRef module, llvm::StringRef name);
/// The tensor method of that name, or null.
const Function *findMember(llvm::StringRef name);

} // namespace nereid::stdlib
