// Locks a file beside the kernel's; the owner removes it before it unlocks it.
// SPDX-License-Identifier: MIT
#include "jit/CompileLock.h"

#include "jit/CacheFolder.h"
#include "jit/PrivateFile.h"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <set>
#include <thread>

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid::jit {

static constexpr auto kFirstPause = std::chrono::milliseconds(2);
static constexpr auto kLongestPause = std::chrono::milliseconds(50);

//--- The locks of this process -----------------------------------------------------------------

namespace {

/// The descriptors of locks. A forked child closes its copies: otherwise a lock would outlive the parent.
struct HeldLocks {
  std::mutex mutex;
  std::set<int> descriptors;

  static HeldLocks &instance() {
    static auto *held = new HeldLocks(); // threads may still use it while the process ends
    return *held;
  }
  void add(int fd) {
    const std::lock_guard guard(mutex);
    descriptors.insert(fd);
  }
  void closeAll() {
    for (const int fd : descriptors)
      close(fd);
    descriptors.clear();
  }
};

} // namespace

// Registered at load time, as the gate of ForkGate.cpp.
[[maybe_unused]] static const int heldRegistered =
    pthread_atfork([] { HeldLocks::instance().mutex.lock(); }, [] { HeldLocks::instance().mutex.unlock(); },
                   [] {
                     HeldLocks::instance().closeAll();
                     HeldLocks::instance().mutex.unlock();
                   });

CompileLock::CompileLock(std::string path, int fd) : path(std::move(path)), fd(fd), owner(getpid()) {
  HeldLocks::instance().add(fd);
}

CompileLock::~CompileLock() {
  if (getpid() != owner)
    return;
  unlink(path.c_str());
  flock(fd, LOCK_UN); // closing alone is not enough where a forked process still has a copy
  HeldLocks &held = HeldLocks::instance();
  const std::lock_guard guard(held.mutex);
  close(fd);
  held.descriptors.erase(fd);
}

//--- Taking one --------------------------------------------------------------------------------

/// Whether the path still names the open file.
static bool isAt(const Descriptor &file, const std::string &path) {
  struct stat open, named;
  return fstat(file.get(), &open) == 0 && lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

static std::string lockPath(const std::string &dir, std::string_view key) {
  return dir + "/" + subfolderOf(key) + "/" + std::string(kAsidePrefix) + "lock-" + std::string(key);
}

/// The open file; nothing where the folder cannot have it.
static Descriptor openLock(const std::string &dir, std::string_view key) {
  for (int trial = 0; trial < kStaleTrials; ++trial) {
    const Descriptor top = openFolder(dir, /*make=*/true);
    if (top && openFolderAt(top, subfolderOf(key), /*make=*/true)) {
      Descriptor file(open(lockPath(dir, key).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
      if (file)
        return file;
    }
    if (errno != ESTALE)
      break;
  }
  return Descriptor();
}

CompileLock::Outcome CompileLock::take(const std::string &dir, std::string_view key, const Wait &wait,
                                       std::unique_ptr<CompileLock> &lock) {
  if (dir.empty() || !isCacheKey(key))
    return Outcome::None;
  const auto deadline = std::chrono::steady_clock::now() + wait.limit;
  auto pause = kFirstPause;
  const std::string path = lockPath(dir, key);
  Descriptor file = openLock(dir, key);
  if (!file)
    return Outcome::None;
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return Outcome::None; // a file system without locks
    if (!isAt(file, path))
      return Outcome::Released;
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero())
      return Outcome::None;
    if (wait.isCancelled && wait.isCancelled())
      return Outcome::Cancelled;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(pause, left));
    pause = std::min(2 * pause, kLongestPause);
  }
  // An owner removes the file before it unlocks it. One that died has left it: this caller takes its place.
  if (!isAt(file, path))
    return Outcome::Released;
  lock.reset(new CompileLock(path, file.release()));
  return Outcome::Owned;
}

} // namespace nereid::jit
