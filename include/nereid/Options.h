// The options of a compilation, as a C++ program sets them; Options.def describes each.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid {

/// A file of LLVM bitcode with functions that kernels call by the library's name.
struct ExternLibrary {
  std::string name;
  std::string path;

  bool operator==(const ExternLibrary &) const = default;
};

/// The types of the kinds of options.
namespace option_kinds {
using Number = uint32_t;
using Flag = bool;
using Choice = std::optional<bool>; ///< none: the compiler chooses
using Text = std::string;
using Path = std::string;
using Names = std::vector<std::string>;
using Libraries = std::vector<ExternLibrary>;
using Sanitizers = std::string; ///< words of docs/sanitizer.md such as "bounds,uninit"
} // namespace option_kinds

struct KernelOptions {
  std::string target = "cpu"; ///< "cpu" is this host; "cuda:90" an NVIDIA GPU, "cuda:90+sim" a simulated one
  int device = 0;             ///< ordinal, where there are several
  std::string cacheDir = {};  ///< compiled kernels are cached there; empty: no cache

  // The tools that make machine code for NVIDIA's GPUs of PTX; where both are empty, the driver does.
  std::string ptxas = {};     ///< path of the program
  std::string nvJitLink = {}; ///< path of the shared library
  uint32_t toolSeconds = 600; ///< limit for one run of either; 0: none

#define NEREID_OPTION(field, Kind, otherwise, python, flag, inKey, stored, help) option_kinds::Kind field = otherwise;
#include <nereid/Options.def>
};

} // namespace nereid
