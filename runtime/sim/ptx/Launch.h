// What a launch of the simulator is given: extents, arguments, the entry of a module.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Expected.h"
#include "artifact/Sanitizers.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nereid::sim {

using artifact::Error;
using artifact::Expected;

struct Dim {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

/// What the text says of an entry.
struct Entry {
  struct Parameter {
    std::string name, type; ///< "u64", "f32", "b8"
    uint32_t bytes = 0, align = 1;
  };
  std::string name;
  std::vector<Parameter> params;
  std::optional<Dim> block, cluster; ///< of .reqntid and .reqnctapercluster
};

class Observer;
struct Cluster;
/// Makes an observer of one cluster.
using MakeObserver = std::function<std::shared_ptr<Observer>(Cluster &)>;

/// The memory that a pointer parameter points to.
struct Buffer {
  std::string name;
  uint32_t param = 0; ///< offset of the pointer among the parameters
  uint64_t base = 0;  ///< the pointer
  uint64_t begin = 0, end = 0;
  uint32_t elementBytes = 1;
  bool isKnown = false;
  uint64_t pattern = 0;      ///< the fill value of elements that were never written
  uint32_t patternBytes = 0; ///< 0: the fill value is unknown
};

struct Launch {
  std::string entry;
  Dim grid, block, cluster;
  uint32_t sharedBytes = 0;     ///< dynamic shared memory of a CTA
  std::span<const char> params; ///< laid out as the entry's .param list says, with natural alignment
  uint64_t seed = 0;            ///< chooses among the orders that the ISA allows
  unsigned threads = 0;         ///< of the host; 0: all of the pool
  uint64_t maxInstructions = 0; ///< warp instructions of a cluster; 0: a default
  uint32_t residentCtas = 0;    ///< of the GPU, at a time; 0: a default
  bool isCooperative = false;   ///< all CTAs have to be resident
  std::vector<MakeObserver> observers;
  bool wantsCounters = false;  ///< more than the number of instructions
  uint32_t checks = 0;         ///< a set of artifact::Sanitizer
  uint32_t device = 0;         ///< number of the simulated GPU
  bool hasPeers = false;       ///< launches on other GPUs run at the same time
  uint32_t firstCluster = 0;   ///< clusters of launches that run together are numbered on
  std::vector<Buffer> buffers; ///< of the pointer parameters, for artifact::Bounds and artifact::Uninit
};

} // namespace nereid::sim
