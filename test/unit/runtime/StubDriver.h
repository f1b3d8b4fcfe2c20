// Drivers for tests that need no GPU: the stubs of test/stub, the calls that they recorded, and kernels for them.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cuda/CudaDevice.h"
#include "runtime/hip/HipDevice.h"

#include <memory>
#include <string>
#include <vector>

namespace nereid::runtime {

/// The functions that a stub library has for tests (see test/stub/Stub.h).
class StubLibrary {
public:
  /// Back to the defaults, then these settings.
  StubLibrary(const std::string &path, const std::string &settings);

  /// Lines of the log so far that name the call; all of them where it is empty.
  std::vector<std::string> calls(const std::string &name = "") const;
  void clear();
  /// As while a stream is being captured into a graph.
  void setCapturing(bool on);
  void addMemory(uint64_t start, uint64_t bytes, int type, int ordinal);

private:
  void *const library;
};

/// The stub of libcuda, opened and initialised, its log empty.
class StubDriver : public StubLibrary {
public:
  explicit StubDriver(const std::string &settings = "");

  Expected<std::unique_ptr<CudaDriver>> opened;
  /// GPU `ordinal`; a failed test where there is none.
  CudaDevice &device(int ordinal = 0);
};

/// The same of libamdhip64.
class StubHip : public StubLibrary {
public:
  explicit StubHip(const std::string &settings = "");

  Expected<std::unique_ptr<HipDriver>> opened;
  HipDevice &device(int ordinal = 0);
};

/// Paths of the stubs.
std::string stubLibrary();
std::string stubHipLibrary();

/// An artifact for sm_90 whose PTX has the parameters of `types` ("*fp32", "i32", ...), 128 threads a block.
artifact::Artifact cudaArtifact(const std::vector<std::string> &types, const std::string &name = "kernel");

/// An artifact for gfx942 whose code object has the parameters of `types` and no code.
artifact::Artifact hipArtifact(const std::vector<std::string> &types, const std::string &name = "kernel");

/// Its argument block with these bytes in every parameter in turn: 0x01.. for the first, 0x02.. for the second.
std::vector<char> patternBlock(const artifact::Artifact &artifact);

inline bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace nereid::runtime
