// Where this machine has what makes machine code of PTX: ptxas, a program, and nvJitLink, a library.
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

/// What a user said of them on the command line; an empty path stands for none at all.
struct CudaToolArguments {
  std::optional<std::string> ptxas;
  std::optional<std::string> nvJitLink;
};

/// What the options name, else TRITON_PTXAS_PATH, is all that is looked at. Else both come from the first folder that
/// has one: CUDA_HOME, CUDA_PATH, NVIDIA's wheels beside this program, /usr/local/cuda; last, ptxas of the PATH.
/// Nothing, and the problem, where a path that was given is wrong.
std::optional<CudaTools> findCudaTools(const CudaToolArguments &given, std::string &problem);

/// The version that a program says it has, as in "13.0"; empty where it does not run.
std::string ptxasVersion(const std::string &program);

} // namespace nereid::tools
