// The subcommands of `nereid`; each returns the exit status of the process.
// SPDX-License-Identifier: MIT
#pragma once

#include "jit/FileJob.h"
#include "tools/nereid/CudaTools.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace nereid::tools {

struct CompileArguments {
  std::string source; ///< FILE.py:KERNEL, FILE.ttir or FILE.ttgir
  std::string signature;
  std::string target = "cpu";
  std::vector<std::string> emit;
  std::string output = ".";
  support::Options options;
  CudaToolArguments cudaTools;
  uint32_t ptxasTimeout = 600;
  unsigned repeats = 1; ///< compilations in this process; the last one is written, times are medians
  bool timing = false, noLocations = false;
};

struct ProfileArguments {
  std::string source; ///< FILE.py:KERNEL, FILE.ttir, FILE.ttgir or FILE.artifact
  std::string signature;
  std::string device = "sim";
  std::string grid;
  std::string values; ///< shapes of arrays and values of scalars
  std::string gpu;    ///< of the estimate; empty: by the device
  support::Options options;
  uint64_t seed = 0;
  bool json = false;
};

/// Splits FILE.py:KERNEL; a colon that is part of a path is kept when no name follows it.
jit::SourceName sourceName(llvm::StringRef source, const std::string &signature);

/// The command sets `options`, which it starts from.
void addOptions(CLI::App &command, support::Options &options);

int runCompile(const CompileArguments &arguments);
int runProfile(const ProfileArguments &arguments);
int runDoctor(const std::string &cacheDir);
/// `calledAs`: argv[0].
int runPath(llvm::StringRef calledAs);
int runSwitch(llvm::StringRef calledAs, bool on);
int runCacheInfo(const std::string &dir);
int runCacheClear(const std::string &dir);

/// The folder that holds the Python package `triton` of this installation; empty where there is none. The program is
/// taken to lie where it was called, if that is an absolute path, else where its file is.
std::string packageFolder(llvm::StringRef calledAs = "");

/// Where kernels are cached: $TRITON_CACHE_DIR, else ~/.triton/cache; empty where there is no home.
std::string defaultCacheDir();

} // namespace nereid::tools
