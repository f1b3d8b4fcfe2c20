// What the driver asks of a target: its names, its stages, and the way from `tt` to a binary.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/driver/Compiler.h"

#include "llvm/ADT/StringRef.h"

namespace nereid::driver {

/// What a backend is given besides the module.
struct BackendJob {
  mlir::ModuleOp module;
  const support::Options &options;
  const support::TargetSpec &target;
  const Request &request;

  /// Whether the request asks for the text of that stage.
  bool wants(llvm::StringRef stage) const;
};

/// One target. A new one is a file with such a record, and its line in Backends.cpp.
struct Backend {
  const char *name;
  std::vector<std::string> stages; ///< in order, from "ttir"; the binary's included
  std::vector<std::string> replaceable; ///< those that users may write themselves
  /// The exact target for an architecture as users write it, empty for the default one.
  std::optional<support::TargetSpec> (*resolve)(const std::string &arch, std::string &whyNot);
  /// Before the passes that every target shares.
  void (*prepare)(mlir::ModuleOp module);
  /// Adds passes that take descriptors before they are expanded into pointers.
  void (*placeDescriptors)(mlir::OpPassManager &passes, const support::TargetSpec &target, const support::Options &options);
  /// Fills in the binary, the wanted stages, the parameters' places and the launch facts.
  mlir::LogicalResult (*finish)(const BackendJob &job, artifact::Artifact &artifact);
};

extern const Backend cpuBackend;
extern const Backend cudaBackend;

/// Null for an unknown name.
const Backend *findBackend(llvm::StringRef name);

/// 1 for a kernel with a reduction, which need not use shared memory: users' occupancy arithmetic divides by this.
uint32_t leastSharedBytes(mlir::ModuleOp module);

/// Writes the places that a target chose into the artifact's parameters.
template <typename Params> void placeParameters(artifact::Artifact &artifact, const Params &places) {
  for (size_t index = 0; index < places.size(); ++index) {
    artifact.parameters[index].offset = places[index].offset;
    artifact.parameters[index].size = places[index].size;
  }
}

} // namespace nereid::driver
