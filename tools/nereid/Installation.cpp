// Implements `nereid path`, `on` and `off`: where the Python packages of this installation are, and the switch that the
// finder of python/nereid_triton reads.
// SPDX-License-Identifier: MIT
#include "tools/nereid/Commands.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::tools;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The folder that belongs to a program's path; empty where there is none.
static std::string folderOf(llvm::StringRef program) {
  const llvm::StringRef bin = path::parent_path(program);
  // A wheel has FOLDER/triton/_C/bin/nereid, a build folder bin/nereid beside python/.
  const llvm::StringRef above = path::parent_path(bin);
  if (path::filename(above) == "_C")
    return path::parent_path(path::parent_path(above)).str();
  llvm::SmallString<128> folder(above);
  path::append(folder, "python");
  return fs::is_directory(llvm::Twine(folder) + "/triton") ? folder.str().str() : "";
}

std::string tools::packageFolder(llvm::StringRef calledAs) {
  // Installers that make symbolic links to a store of their own: the path of the call is the environment's.
  if (path::is_absolute(calledAs))
    if (std::string folder = folderOf(calledAs); !folder.empty())
      return folder;
  static int anchor;
  return folderOf(fs::getMainExecutable("nereid", &anchor));
}

/// Beside the finder, which a wheel has in the folder itself.
static std::string switchFile(const std::string &folder) {
  llvm::SmallString<128> file(folder);
  path::append(file, "nereid_triton");
  if (!fs::is_directory(file))
    file = folder;
  path::append(file, "switch");
  return file.str().str();
}

/// Replaces the file: installers that make hard links of their cache share the old one with other environments.
static std::error_code replaceFile(const std::string &file, llvm::StringRef text) {
  llvm::SmallString<128> written;
  int descriptor;
  if (std::error_code code = fs::createUniqueFile(file + ".%%%%%%", descriptor, written, fs::OF_None, 0644))
    return code;
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << text;
  stream.close();
  std::error_code code = stream.error();
  stream.clear_error();
  if (!code)
    code = fs::rename(written, file);
  if (code)
    fs::remove(written);
  return code;
}

static std::string installedFolder(llvm::StringRef calledAs) {
  const std::string folder = packageFolder(calledAs);
  if (folder.empty())
    llvm::errs() << "nereid: no Python package belongs to this program\n";
  return folder;
}

int tools::runPath(llvm::StringRef calledAs) {
  const std::string folder = installedFolder(calledAs);
  if (folder.empty())
    return 1;
  llvm::outs() << folder << "\n";
  return 0;
}

int tools::runSwitch(llvm::StringRef calledAs, bool on) {
  const std::string folder = installedFolder(calledAs);
  if (folder.empty())
    return 1;
  const std::string file = switchFile(folder);
  if (std::error_code code = replaceFile(file, on ? "on\n" : "off\n")) {
    llvm::errs() << llvm::formatv("nereid: {0} cannot be written: {1}; the variable NEREID={2} switches one process\n",
                                  file, code.message(), on ? 1 : 0);
    return 1;
  }
  llvm::outs() << (on ? "on: `import triton` finds Nereid's package in this environment\n"
                      : "off: `import triton` finds another Triton in this environment, or none; `nereid on` undoes "
                        "this\n");
  return 0;
}
