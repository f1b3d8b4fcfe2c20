// A compilation of a file, as the command line and the C++ API name it.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/FileHost.h"
#include "jit/Session.h"

#include "llvm/Support/ErrorOr.h"

namespace nereid::jit {

/// The words that name a kernel: one of a .py file, where an empty name means its only kernel, with an entry of the
/// signature per parameter (jit/Signature.h); or that of a .ttir or .ttgir file.
struct SourceName {
  std::string path;
  std::string kernel;
  std::string signature;
};

struct FileJob {
  std::unique_ptr<sema::FileHost> host; ///< of a .py file
  Job job;
};

/// Reads a job. Nothing after an error, which is in `diagnostics`, or in `problem` where the caller's words are wrong.
std::optional<FileJob> readJob(const SourceName &source, const support::Options &options,
                               const support::TargetSpec &target, support::DiagnosticEngine &diagnostics,
                               std::string &problem);

/// The kernel that `nereid compile --emit artifact` has written.
artifact::Expected<artifact::Artifact> readArtifact(const std::string &path);

/// The file of the option `ir_override`; its last suffix is the stage.
llvm::ErrorOr<driver::Request::Replacement> readReplacement(const std::string &path);

} // namespace nereid::jit
