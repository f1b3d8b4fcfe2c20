// Reads and writes files through descriptors, so that no path is resolved twice.
// SPDX-License-Identifier: MIT
#include "jit/PrivateFile.h"

#include "runtime/WriteAll.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <random>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid::jit {

// Far above the size of any kernel; a larger file is not a cache file.
static constexpr off_t kMaxFileBytes = off_t{1} << 30;
// The granularity of access times: an update at each load would cause needless writes.
static constexpr time_t kMarkSeconds = 3600;

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept {
  std::swap(fd, other.fd);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd >= 0)
    close(fd);
}

static constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

/// Creates all missing folders of the path. Returns why the first one that is missing cannot be made, or 0.
static int makeFolders(const std::string &path) {
  int reason = 0;
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (mkdir(path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST && reason == 0)
      reason = errno;
    if (slash == path.npos)
      return reason;
  }
}

Descriptor openFolder(const std::string &path, bool make) {
  Descriptor folder(open(path.c_str(), kFolderFlags));
  if (folder || !make || errno != ENOENT || path.empty())
    return folder;
  const int reason = makeFolders(path);
  folder = Descriptor(open(path.c_str(), kFolderFlags));
  if (!folder && errno == ENOENT && reason != 0)
    errno = reason;
  return folder;
}

Descriptor openFolderAt(const Descriptor &parent, const std::string &name, bool make) {
  Descriptor folder(openat(parent.get(), name.c_str(), kFolderFlags | O_NOFOLLOW));
  if (folder || !make || errno != ENOENT)
    return folder;
  if (mkdirat(parent.get(), name.c_str(), 0700) != 0 && errno != EEXIST)
    return Descriptor();
  return Descriptor(openat(parent.get(), name.c_str(), kFolderFlags | O_NOFOLLOW));
}

static bool isTrusted(const struct stat &status) {
  return S_ISREG(status.st_mode) && (status.st_uid == geteuid() || status.st_uid == 0) &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool readAll(int fd, std::string &bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(fd, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

FileContents readPrivateFile(const Descriptor &folder, const std::string &name) {
  using State = FileContents::State;
  // O_NONBLOCK: opening a pipe under the file's name must not block.
  const Descriptor file(openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file)
    return {errno == ENOENT ? State::Missing : State::Untrusted, {}, errno};
  struct stat status;
  if (fstat(file.get(), &status) != 0)
    return {State::Unreadable, {}, errno};
  if (!isTrusted(status) || status.st_size > kMaxFileBytes)
    return {State::Untrusted, {}};
  FileContents contents{State::Read, std::string(static_cast<size_t>(status.st_size), '\0')};
  if (!readAll(file.get(), contents.bytes))
    return {State::Unreadable, {}, errno};
  if (time(nullptr) - status.st_mtime > kMarkSeconds)
    futimens(file.get(), nullptr);
  return contents;
}

/// A name that no other writer uses, on this machine or another.
static std::string asideName() {
  static std::atomic<uint64_t> serial{0};
  std::random_device random;
  char name[96];
  std::snprintf(name, sizeof name, "%s%d-%llx-%08x%08x", std::string(kAsidePrefix).c_str(), static_cast<int>(getpid()),
                static_cast<unsigned long long>(serial.fetch_add(1)), random(), random());
  return name;
}

static bool writeAside(const Descriptor &folder, const std::string &aside, std::string_view bytes, Sync sync) {
  const Descriptor file(
      openat(folder.get(), aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  return file && runtime::writeAll(file.get(), bytes) && (sync == Sync::No || fsync(file.get()) == 0);
}

int replaceFile(const Descriptor &folder, const std::string &name, std::string_view bytes, Sync sync) {
  const std::string aside = asideName();
  if (writeAside(folder, aside, bytes, sync) && renameat(folder.get(), aside.c_str(), folder.get(), name.c_str()) == 0)
    return 0;
  const int reason = errno;
  unlinkat(folder.get(), aside.c_str(), 0);
  return reason;
}

void syncFile(const Descriptor &folder, const std::string &name) {
  const Descriptor file(openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file)
    fsync(file.get());
}

} // namespace nereid::jit
