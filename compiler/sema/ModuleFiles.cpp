// Finds the files of imported modules beside a kernel's file.
// SPDX-License-Identifier: MIT
#include "compiler/sema/ModuleFiles.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace nereid::sema {

namespace path = llvm::sys::path;
namespace fs = llvm::sys::fs;

static std::string joined(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> text(folder);
  path::append(text, name);
  path::remove_dots(text);
  return text.str().str();
}

static bool isFile(llvm::StringRef name) { return fs::is_regular_file(name); }

static std::optional<ModuleFile> findComponent(llvm::StringRef folder, llvm::StringRef name) {
  const std::string directory = joined(folder, name), file = directory + ".py";
  const std::string init = joined(directory, "__init__.py");
  if (isFile(init))
    return ModuleFile{init, directory};
  if (isFile(file))
    return ModuleFile{file, ""};
  if (fs::is_directory(directory))
    return ModuleFile{"", directory};
  return std::nullopt;
}

std::optional<ModuleFile> findModule(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef> components;
  name.split(components, '.');
  std::optional<ModuleFile> found = ModuleFile{"", folder.str()};
  for (llvm::StringRef component : components) {
    if (found->path.size() && found->directory.empty())
      return std::nullopt; // a submodule of a plain module
    found = findComponent(found->directory, component);
    if (!found)
      return std::nullopt;
  }
  return found;
}

std::string relativeFolder(llvm::StringRef file, unsigned level) {
  llvm::SmallString<128> folder(path::parent_path(file));
  for (unsigned up = 1; up < level; ++up)
    path::append(folder, "..");
  path::remove_dots(folder);
  return folder.str().str();
}

std::vector<std::string> importFolders(llvm::StringRef mainFile, llvm::StringRef name) {
  std::vector<std::string> folders{path::parent_path(mainFile).str()};
  llvm::SmallString<128> folder(folders.front());
  if (fs::make_absolute(folder))
    return folders;
  path::remove_dots(folder, /*remove_dot_dot=*/true);
  const llvm::StringRef package = name.split('.').first;
  bool isInPackage = true;
  for (llvm::StringRef inner = folder; path::has_parent_path(inner); inner = path::parent_path(inner)) {
    isInPackage &= isFile(joined(inner, "__init__.py"));
    if (isInPackage || path::filename(inner) == package)
      folders.push_back(path::parent_path(inner).str());
  }
  return folders;
}

} // namespace nereid::sema
