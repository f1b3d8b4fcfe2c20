// A kernel of a .py file with a hand-written signature, as the command line and the C++ API compile it.
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
  std::string sourceKey; ///< changes with the contents of the file and of those that it imports
};

/// Parses `path` and finds `kernel` in it (with an empty name, the only kernel of the file). `signature` has one entry
/// per parameter; see jit/Signature.h. Nothing after an error.
std::optional<SourceKernel> readSourceKernel(const std::string &path, const std::string &kernel,
                                             const std::string &signature, const support::Options &options,
                                             const support::TargetSpec &target, support::DiagnosticEngine &diagnostics);

} // namespace nereid::jit
