// Settles stored files on at most one thread, which ends when nothing is left.
// SPDX-License-Identifier: MIT
#include "jit/StoreQueue.h"

#include "jit/DiskCache.h"
#include "process/AddressSpace.h"

#include <pthread.h>

namespace nereid::jit {

// The thread's stack, and the part of malloc that it begins: a failed allocation there would end the process.
static constexpr size_t kThreadBytes = size_t{96} << 20;

StoreQueue &StoreQueue::instance() {
  static auto *queue = new StoreQueue(); // threads may still use it while the process ends
  return *queue;
}

StoreQueue::StoreQueue() {
  // A child has no such thread; pending entries are settled by the parent.
  pthread_atfork([] { instance().mutex.lock(); }, [] { instance().mutex.unlock(); },
                 [] {
                   instance().waiting.clear();
                   instance().isDraining = false;
                   instance().mutex.unlock();
                 });
}

void StoreQueue::add(std::string dir, const artifact::Artifact &artifact) {
  if (!processCache().put(dir, artifact.hash, artifact))
    return;
  std::unique_lock<std::mutex> lock(mutex);
  waiting.push_back({std::move(dir), artifact.hash});
  if (isDraining)
    return;
  isDraining = true;
  lock.unlock();
  const auto run = [](void *queue) -> void * {
    static_cast<StoreQueue *>(queue)->drain();
    return nullptr;
  };
  pthread_t thread;
  if (process::hasAddressSpace(kThreadBytes) && pthread_create(&thread, nullptr, run, this) == 0)
    pthread_detach(thread);
  else
    drain(); // no thread could be started: the caller waits
}

void StoreQueue::drain() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!waiting.empty()) {
    const Entry entry = waiting.front();
    lock.unlock();
    processCache().settle(entry.dir, entry.key);
    lock.lock();
    waiting.pop_front();
  }
  isDraining = false;
  emptied.notify_all();
}

void StoreQueue::flush() {
  std::unique_lock<std::mutex> lock(mutex);
  emptied.wait(lock, [this] { return !isDraining; });
}

} // namespace nereid::jit
