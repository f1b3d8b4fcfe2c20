// A kernel of a .py file for a written signature: what the command line and the C++ API compile.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/FileHost.h"
#include "compiler/sema/Sema.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nereid::jit {

struct SourceKernel {
  std::unique_ptr<sema::FileHost> host;
  sema::KernelRequest request;
  std::string signature;                                           ///< as `Signature::str` prints it
  std::vector<std::shared_ptr<const support::SourceFile>> sources; ///< the file and those that it imports
  std::string sourceKey; ///< changes with the text of the file and of those that it imports
};

/// Reads `path` and finds `kernel` in it (any one kernel where the name is empty and the file has just one).
/// `signature` has one entry per parameter; see jit/Signature.h. Nothing after an error.
std::optional<SourceKernel> readSourceKernel(const std::string &path, const std::string &kernel,
                                             const std::string &signature, const support::Options &options,
                                             const support::TargetSpec &target, support::DiagnosticEngine &diagnostics);

} // namespace nereid::jit
