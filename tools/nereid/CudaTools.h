// Finds the tools that compile PTX to machine code: ptxas, a program, and nvJitLink, a library.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nereid::tools {

/// Paths; empty where there is none.
struct CudaTools {
  std::string ptxas;
  std::string nvJitLink;
  std::vector<std::string> roots; ///< folders that were searched, in order

  bool empty() const { return ptxas.empty() && nvJitLink.empty(); }
};

/// The user's command-line options for the tools; an empty path disables a tool.
struct CudaToolArguments {
  std::optional<std::string> ptxas;
  std::optional<std::string> nvJitLink;
};

/// Where the options, else TRITON_PTXAS_PATH, give paths, only those are used. Else both come from the first folder
/// that has one: CUDA_HOME, CUDA_PATH, NVIDIA's wheels next to this program, /usr/local/cuda; last, ptxas of the PATH.
/// Nullopt, with `problem` set, where a given path is wrong.
std::optional<CudaTools> findCudaTools(const CudaToolArguments &arguments, std::string &problem);

/// The version that a program reports, as in "13.0"; empty where it does not run.
std::string ptxasVersion(const std::string &program);

} // namespace nereid::tools
