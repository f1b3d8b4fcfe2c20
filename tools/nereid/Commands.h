// The subcommands of `nereid`; each returns the exit status of the process.
// SPDX-License-Identifier: MIT
#pragma once

#include "tools/nereid/CudaTools.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid::tools {

struct CompileArguments {
  std::string source; ///< FILE.py:KERNEL or FILE.ttir
  std::string signature;
  std::string target = "cpu";
  std::vector<std::string> emit;
  std::string output = ".";
  unsigned numWarps = 4, numStages = 3, numCtas = 1;
  unsigned wavesPerEu = 0, matrixInstrNonKDim = 0, kpack = 0;
  std::optional<bool> asyncCopy;
  CudaToolArguments cudaTools;
  uint32_t ptxasTimeout = 600;
  unsigned repeats = 1; ///< compilations in this process; the last one is written, times are medians
  std::string reproducerPath;
  std::string irOverride;
  std::string sanitize;
  std::string abi = "plain";
  bool debug = false, noFpFusion = false, timing = false, noLocations = false, noBufferOps = false;
};

struct ProfileArguments {
  std::string source; ///< FILE.py:KERNEL
  std::string signature;
  std::string device = "sim";
  std::string grid;
  std::string values; ///< shapes of arrays and values of scalars
  std::string gpu;    ///< of the estimate; empty: by the device
  unsigned numWarps = 4, numStages = 3, numCtas = 1;
  uint64_t seed = 0;
  bool json = false;
};

/// FILE.py:KERNEL; a colon that is part of a path is kept when no name follows it.
std::pair<std::string, std::string> splitSource(llvm::StringRef source);

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
