// Writes a kernel's TTIR, and the text that replaces a stage, from which `nereid compile` repeats a failed phase.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Reproducer.h"

#include "artifact/Sanitizers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace nereid;
using namespace nereid::driver;

static std::string wordOf(uint32_t number) { return std::to_string(number); }
static std::string wordOf(const std::optional<bool> &choice) { return *choice ? "1" : "0"; }
static std::string wordOf(support::SanitizerSet set) { return artifact::sanitizerNames(set); }
static std::string wordOf(const std::string &text) { return "'" + text + "'"; }
static std::string wordOf(const std::vector<std::string> &names) { return llvm::join(names, ","); }
static std::string wordOf(const std::vector<support::ExternLibrary> &libraries) {
  std::vector<std::string> pairs;
  for (const support::ExternLibrary &library : libraries)
    pairs.push_back(library.name + "=" + library.path);
  return wordOf(llvm::join(pairs, ","));
}

/// The options that differ from their defaults, as the command line takes them.
static std::string wordsOf(const support::Options &options) {
  std::string words;
  const auto add = [&](const support::OptionRow &row, const auto &value, const auto &otherwise) {
    if (value == otherwise || !row.isInKey || !*row.flag)
      return;
    words += std::string(" ") + row.flag;
    if constexpr (!std::is_same_v<decltype(value), const bool &>)
      words += " " + wordOf(value);
  };
  support::forEachOption(add, options, support::Options());
  return words + (options.ownLauncher ? " --abi own" : "");
}

static std::string commandOf(const Compilation &work, llvm::StringRef path, llvm::StringRef replacement) {
  const support::TargetSpec &target = work.target;
  std::string command = llvm::formatv("nereid compile {0} --target {1}:{2}{3}", path, target.backend, target.arch,
                                      artifact::targetInfo(target.backend).namesFeatures ? target.features : "");
  command += wordsOf(work.options);
  if (!replacement.empty())
    command += (" --ir-override " + replacement).str();
  return command + " --emit " + work.phase + " -o -";
}

namespace fs = llvm::sys::fs;

// The text is the user's: nobody else may read it.
static constexpr auto kOwnFile = static_cast<fs::perms>(0600);

/// The user's own folder inside the temporary one; one of a new name where something else has its name.
static std::error_code privateFolder(llvm::SmallString<128> &folder) {
  llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, folder);
  const size_t length = folder.size();
  llvm::sys::path::append(folder, "nereid-" + llvm::Twine(geteuid()));
  fs::create_directory(folder, /*IgnoreExisting=*/true, fs::owner_all);
  fs::file_status status;
  if (!fs::status(folder, status, /*follow=*/false) && fs::is_directory(status) && status.getUser() == geteuid() &&
      (status.permissions() & (fs::group_all | fs::others_all)) == 0)
    return {};
  folder.truncate(length);
  llvm::sys::path::append(folder, "nereid");
  if (const std::error_code code = fs::createUniqueDirectory(folder.str().str(), folder))
    return code;
  return fs::setPermissions(folder, fs::owner_all);
}

/// A file of a new name, at the path's beginning that the request names or in a private folder.
static std::error_code createFile(const Compilation &work, int &descriptor, llvm::SmallString<128> &path) {
  llvm::SmallString<128> model(work.options.reproducerPath);
  if (model.empty())
    if (const std::error_code code = privateFolder(model))
      return code;
  const std::string name = work.result.artifact.name + "-%%%%%%.ttir";
  if (fs::is_directory(model))
    llvm::sys::path::append(model, "nereid-" + name);
  else
    model += "." + name;
  return fs::createUniqueFile(model, descriptor, path, fs::OF_None, kOwnFile);
}

/// Writes the user's text for a stage beside the file at `path`, and returns its path; empty where there is none.
static std::string writeReplacement(const Compilation &work, llvm::StringRef path) {
  const auto &replacement = work.request.replacement;
  if (!replacement)
    return "";
  const std::string beside =
      (path.drop_back(llvm::StringRef(".ttir").size()) + ".override." + replacement->stage).str();
  int descriptor;
  if (fs::openFileForWrite(beside, descriptor, fs::CD_CreateNew, fs::OF_None, kOwnFile))
    return replacement->path;
  llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
  file << replacement->text;
  return beside;
}

/// The TTIR that later phases begin with, or else the module that the passes to it began with.
static std::string textBefore(const Compilation &work) {
  if (const std::string *text = work.result.artifact.findStage("ttir"))
    return *text;
  return work.request.makeSource ? work.request.makeSource() : "";
}

std::string driver::writeReproducer(const Compilation &work, llvm::StringRef reason) {
  const std::string ir = textBefore(work);
  if (ir.empty())
    return "";
  llvm::SmallString<128> path;
  int descriptor;
  if (createFile(work, descriptor, path))
    return "";
  llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
  llvm::SmallVector<llvm::StringRef> lines;
  reason.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  file << "// A bug in Nereid, build " << buildId() << ", in phase `" << work.phase << "`:\n";
  for (llvm::StringRef line : lines)
    file << "//   " << line << "\n";
  file << "// To repeat it: " << commandOf(work, path, writeReplacement(work, path)) << "\n";
  file << ir;
  return path.str().str();
}
