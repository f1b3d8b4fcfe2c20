// Searches for ptxas and nvJitLink where CUDA and NVIDIA's wheels install them.
// SPDX-License-Identifier: MIT
#include "tools/nereid/CudaTools.h"
#include "tools/nereid/Commands.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace nereid;
using namespace nereid::tools;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::string environment(StringRef name) { return llvm::sys::Process::GetEnv(name).value_or(""); }

static std::string joined(StringRef folder, StringRef rest) {
  llvm::SmallString<128> whole(folder);
  path::append(whole, rest);
  return whole.str().str();
}

static bool isProgram(const std::string &file) { return fs::is_regular_file(file) && fs::can_execute(file); }

//--- One folder --------------------------------------------------------------------------------

static bool isShorter(const std::string &left, const std::string &right) {
  return std::pair(left.size(), left) < std::pair(right.size(), right);
}

/// The file of `folder` with the shortest name that starts with `start`: `libnvJitLink.so.13`.
static std::string shortestIn(const std::string &folder, StringRef start) {
  std::string library;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    if (path::filename(at->path()).starts_with(start) && (library.empty() || isShorter(at->path(), library)))
      library = at->path();
  return library;
}

/// Records the tools found in these folders under `root`; returns whether there are any.
static bool take(CudaTools &tools, const std::string &root, StringRef programs,
                 std::initializer_list<StringRef> libraries) {
  tools.roots.push_back(root);
  if (const std::string ptxas = joined(root, programs) + "/ptxas"; isProgram(ptxas))
    tools.ptxas = ptxas;
  for (StringRef folder : libraries)
    if (tools.nvJitLink.empty())
      tools.nvJitLink = shortestIn(joined(root, folder), "libnvJitLink.so.");
  return !tools.empty();
}

/// The folders `nvidia` of the Python packages beside this program's own (SITE/nereid_triton/triton/_C/bin) and of the
/// environment whose command `nereid` runs this program.
static std::vector<std::string> wheelFolders() {
  std::vector<std::string> folders;
  for (const std::string &site : {path::parent_path(packageFolder()).str(), environment("NEREID_SITE_PACKAGES")})
    if (const std::string folder = joined(site, "nvidia"); !site.empty() && fs::is_directory(folder))
      folders.push_back(folder);
  return folders;
}

//--- All ---------------------------------------------------------------------------------------

static bool checkGiven(const CudaTools &tools, StringRef ptxasFrom, std::string &problem) {
  if (!tools.ptxas.empty() && !isProgram(tools.ptxas))
    problem = (ptxasFrom + " names " + tools.ptxas + ", which is no program").str();
  else if (!tools.nvJitLink.empty() && !fs::is_regular_file(tools.nvJitLink))
    problem = "--nvjitlink names " + tools.nvJitLink + ", which is no file";
  return problem.empty();
}

static CudaTools search() {
  CudaTools tools;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string root = environment(variable); !root.empty() && take(tools, root, "bin", {"lib64", "lib"}))
      return tools;
  for (const std::string &folder : wheelFolders())
    if (take(tools, joined(folder, "cu13"), "bin", {"lib"}) || take(tools, folder, "cuda_nvcc/bin", {"nvjitlink/lib"}))
      return tools;
  if (take(tools, "/usr/local/cuda", "bin", {"lib64", "lib"}))
    return tools;
  if (auto program = llvm::sys::findProgramByName("ptxas"))
    tools.ptxas = *program;
  tools.roots.push_back("PATH");
  return tools;
}

std::optional<CudaTools> tools::findCudaTools(const CudaToolArguments &arguments, std::string &problem) {
  CudaTools tools;
  if (arguments.ptxas || arguments.nvJitLink) {
    tools.ptxas = arguments.ptxas.value_or("");
    tools.nvJitLink = arguments.nvJitLink.value_or("");
    return checkGiven(tools, "--ptxas", problem) ? std::optional(tools) : std::nullopt;
  }
  tools.ptxas = environment("TRITON_PTXAS_PATH");
  if (tools.ptxas.empty())
    return search();
  return checkGiven(tools, "TRITON_PTXAS_PATH", problem) ? std::optional(tools) : std::nullopt;
}

std::string tools::ptxasVersion(const std::string &program) {
  llvm::SmallString<128> answer;
  if (fs::createTemporaryFile("nereid", "txt", answer))
    return "";
  const std::optional<StringRef> files[] = {StringRef(), StringRef(answer), StringRef()};
  const int status =
      llvm::sys::ExecuteAndWait(program, {program, "--version"}, std::nullopt, files, /*SecondsToWait=*/5);
  auto text = llvm::MemoryBuffer::getFile(answer);
  fs::remove(answer);
  if (status != 0 || !text)
    return "";
  // "Cuda compilation tools, release 13.0, V13.0.88"
  return (*text)->getBuffer().split("release ").second.take_until([](char c) { return c == ','; }).str();
}
