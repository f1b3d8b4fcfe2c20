// Writes compiled kernels to the disk cache in the background: a safe write waits for the disk, a launch need not.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace nereid::jit {

class StoreQueue {
public:
  /// The queue of this process; a forked child starts with an empty one.
  static StoreQueue &instance();

  /// Adds the artifact to be stored under its `hash`, and starts a thread where none is running.
  void add(std::string dir, std::shared_ptr<const artifact::Artifact> artifact);
  /// The pending artifact, or null.
  std::shared_ptr<const artifact::Artifact> find(const std::string &dir, const std::string &key);
  /// Waits until everything is stored. Must not be called with a lock that storing may wait for.
  void flush();

private:
  struct Entry {
    std::string dir;
    std::shared_ptr<const artifact::Artifact> artifact;
  };
  StoreQueue();
  void drain();

  std::mutex mutex;
  std::condition_variable emptied;
  std::deque<Entry> waiting; ///< the first one is being stored
  bool isDraining = false;
};

} // namespace nereid::jit
