// Writes a kernel's TTIR, and the text that replaces a stage, from which `nereid compile` repeats a failed phase.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Reproducer.h"

#include "compiler/support/Sanitizers.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace nereid;
using namespace nereid::driver;

static std::string commandOf(const Compilation &work, llvm::StringRef path, llvm::StringRef replacement) {
  const support::Options &options = work.options;
  std::string command =
      llvm::formatv("nereid compile {0} --target {1}:{2}{3} --num-warps {4} --num-stages {5} --num-ctas {6}", path,
                    work.target.backend, work.target.arch,
                    artifact::targetInfo(work.target.backend).namesFeatures ? work.target.features : "",
                    options.numWarps, options.numStages, options.numCtas);
  if (options.wavesPerEu)
    command += " --waves-per-eu " + std::to_string(options.wavesPerEu);
  if (options.matrixInstrNonKDim)
    command += " --matrix-instr-nonkdim " + std::to_string(options.matrixInstrNonKDim);
  if (options.kpack)
    command += " --kpack " + std::to_string(options.kpack);
  if (!options.useBufferOps)
    command += " --no-buffer-ops";
  if (options.useAsyncCopy)
    command += std::string(" --async-copy ") + (*options.useAsyncCopy ? "1" : "0");
  if (options.debug)
    command += " --debug";
  if (!options.enableFpFusion)
    command += " --no-fp-fusion";
  if (options.sanitize)
    command += " --sanitize " + support::sanitizerNames(options.sanitize);
  if (options.ownLauncher)
    command += " --abi own";
  if (!replacement.empty())
    command += (" --ir-override " + replacement).str();
  return command + " --emit " + work.phase + " -o -";
}

/// The options that differ from their defaults and that the command line lacks.
static std::string otherOptions(const Compilation &work) {
  const support::Options &options = work.options, defaults;
  std::string text;
  const auto add = [&](bool differs, const llvm::Twine &option) {
    if (differs)
      text += (text.empty() ? "" : ", ") + option.str();
  };
  add(options.maxRegisters != defaults.maxRegisters, "maxnreg=" + llvm::Twine(options.maxRegisters));
  add(options.ptxVersion != defaults.ptxVersion, "ptx_version=" + llvm::Twine(options.ptxVersion));
  add(options.ptxOptions != defaults.ptxOptions, "ptx_options=" + options.ptxOptions);
  add(options.flushDenormals, "allow_flush_denorm=True");
  for (const support::ExternLibrary &library : options.externLibraries)
    add(true, "extern_libs: " + library.name + "=" + library.path);
  return text;
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
  llvm::SmallString<128> model(work.request.reproducerPath);
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
  if (const std::string *kept = work.result.artifact.findStage("ttir"))
    return *kept;
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
  const std::string others = otherOptions(work);
  llvm::SmallVector<llvm::StringRef> lines;
  reason.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  file << "// A bug in Nereid, build " << buildId() << ", in phase `" << work.phase << "`:\n";
  for (llvm::StringRef line : lines)
    file << "//   " << line << "\n";
  file << "// To repeat it: " << commandOf(work, path, writeReplacement(work, path)) << "\n";
  if (!others.empty())
    file << "// It was compiled with, besides: " << others << "\n";
  file << ir;
  return path.str().str();
}
