// Stores compiled kernels; waiting for the disk, and eviction, happen in the background.
// SPDX-License-Identifier: MIT
//
// A file is there at once, so that it outlives a process that ends by _exit or a signal.
#pragma once

#include "artifact/Artifact.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

namespace nereid::jit {

class StoreQueue {
public:
  /// The queue of this process; a forked child starts with an empty one.
  static StoreQueue &instance();

  /// Stores the artifact under its `hash`, and starts a thread for the rest where none is running.
  void add(std::string dir, const artifact::Artifact &artifact);
  /// Waits until nothing is left to do. Must not be called with a lock that storing may wait for.
  void flush();

private:
  struct Entry {
    std::string dir;
    std::string key;
  };
  StoreQueue();
  void drain();

  std::mutex mutex;
  std::condition_variable emptied;
  std::deque<Entry> waiting; ///< the first one is being settled
  bool isDraining = false;
};

} // namespace nereid::jit
