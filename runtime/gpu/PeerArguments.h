// The arguments of recent launches that are memory of another GPU: without access to it, the launch fails later.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace nereid::runtime {

struct PeerArgument {
  const char *kernel = "", *parameter = ""; ///< never freed
  uint64_t address = 0;
  int owner = 0; ///< ordinal of the GPU whose memory it is
};

class PeerArguments {
public:
  /// An earlier one of the same parameter and GPU is forgotten, and the oldest where there are too many.
  void record(const PeerArgument &argument);
  void clear();
  /// Newest last.
  std::vector<PeerArgument> recorded() const;

private:
  static constexpr size_t kCapacity = 8;
  mutable std::mutex mutex;
  std::vector<PeerArgument> arguments;
};

} // namespace nereid::runtime
