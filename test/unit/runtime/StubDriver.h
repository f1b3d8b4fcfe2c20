// A CUDA driver for tests that need no GPU: the stub of test/stub, the calls that it recorded, and kernels for it.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cuda/CudaDevice.h"

#include <memory>
#include <string>
#include <vector>

namespace nereid::runtime {

/// The stub with these settings (see test/stub/Stub.h), opened and initialised, its log empty.
class StubDriver {
public:
  explicit StubDriver(const std::string &settings = "");

  Expected<std::unique_ptr<CudaDriver>> opened;
  /// GPU `ordinal`; a failed test where there is none.
  CudaDevice &device(int ordinal = 0);

  /// Lines of the log so far that name the call; all of them where it is empty.
  std::vector<std::string> calls(const std::string &name = "") const;
  void clear();
  /// As while a stream is being captured into a graph.
  void setCapturing(bool on);
  void addMemory(uint64_t start, uint64_t bytes, int type, int ordinal);
};

/// Path of the stub.
std::string stubLibrary();

/// An artifact for sm_90 whose PTX has the parameters of `types` ("*fp32", "i32", ...), 128 threads a block.
artifact::Artifact cudaArtifact(const std::vector<std::string> &types, const std::string &name = "kernel");

/// Its argument block with these bytes in every parameter in turn: 0x01.. for the first, 0x02.. for the second.
std::vector<char> patternBlock(const artifact::Artifact &artifact);

inline bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace nereid::runtime
