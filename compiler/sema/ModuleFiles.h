// Finds the files of imported modules beside a kernel's file.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::sema {

/// A module on disk: `a/b.py`, or the package `a/b` with its `__init__.py`, if it has one.
struct ModuleFile {
  std::string path;      ///< of the file; empty for a package without `__init__.py`
  std::string directory; ///< whose files are its submodules; empty for a plain module
};

/// `name` ("a.b") in `folder`; nothing where no such file exists.
std::optional<ModuleFile> findModule(llvm::StringRef folder, llvm::StringRef name);

/// The folders where an absolute import of `name` looks for it, from the file that was compiled: its own folder, then
/// those above it that contain its packages (folders with `__init__.py`, or named as the import's first component).
std::vector<std::string> importFolders(llvm::StringRef mainFile, llvm::StringRef name);

/// The folder that `level` leading dots mean in an import in `file`.
std::string relativeFolder(llvm::StringRef file, unsigned level);

} // namespace nereid::sema
