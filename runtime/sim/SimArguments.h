// The parameters of a launch on the simulated GPU, with the memory of the launcher that they point to.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"
#include "runtime/MemoryExtent.h"
#include "runtime/cuda/TensorMaps.h"
#include "runtime/sim/Simulator.h"

#include <memory>
#include <vector>

namespace nereid::sim {

/// The calls by which the launcher makes tensor maps: one that encodes them for the simulated GPU.
const runtime::cuda::DriverCalls &tensorMapCalls();

/// What the parameters of an artifact's launches are made from.
struct SimAbi {
  const artifact::Artifact &artifact;
  const runtime::TensorMaps *tensorMaps; ///< null for the plain ABI
  uint32_t residentPrograms;             ///< of a persistent kernel, on the whole device at once; else 0
  uint32_t multiprocessors;
};

class SimArguments {
public:
  /// `packed` are the arguments of a call; `extents`, of each parameter, may be empty. Scratch is allocated where the
  /// caller gave none. Codes: `launch-arguments`, `launch-grid`, `launch-memory`.
  static Expected<SimArguments> make(const SimAbi &abi, runtime::Grid programs, std::span<const char> packed,
                                     std::span<const runtime::MemoryExtent> extents = {});

  /// The grid in CTAs.
  Dim grid() const { return ctas; }
  std::span<const char> params() const { return block; }
  /// What the pointers among the parameters point to.
  const std::vector<Buffer> &buffers() const { return memory; }

private:
  struct Free {
    void operator()(char *memory) const;
  };
  using Memory = std::unique_ptr<char, Free>;
  static Memory allocate(uint64_t bytes, uint64_t alignment);

  Expected<void> fillGrid(const SimAbi &abi, runtime::Grid programs);
  Expected<void> addTensorMaps(const SimAbi &abi, runtime::Grid programs, std::span<const char> packed);
  Expected<void> sharePrograms(const SimAbi &abi, runtime::Grid programs);
  Expected<void> addScratch(const artifact::Artifact &artifact, std::span<const char> packed);
  uint32_t add(const void *bytes, size_t size, size_t alignment);
  uint32_t addMemory(std::string name, const void *begin, uint64_t bytes);

  Dim ctas;
  std::vector<char> block;
  std::vector<Buffer> memory;
  Memory scratch[2];
  std::unique_ptr<uint32_t[]> counters;
};

} // namespace nereid::sim
