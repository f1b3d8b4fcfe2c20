// A library for LD_PRELOAD that makes a folder look like one on a slow network file system.
// SPDX-License-Identifier: MIT
//
//   SLOW_FILES=FOLDER        the folder; nothing changes elsewhere
//   SLOW_FILES_US=N          each call on it takes N microseconds longer
//   SLOW_FILES_STALE=N       each N-th call on it fails with ESTALE, as after a change by another machine
//   SLOW_FILES_LOCKS=0       flock fails with ENOLCK
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static long numberOf(const char *variable) {
  const char *text = getenv(variable);
  return text ? atol(text) : 0;
}

/// The path behind a descriptor; empty where it has none.
static std::string pathOf(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : std::string();
}

static std::string pathOf(int folder, const char *name) {
  if (name[0] == '/')
    return name;
  return folder == AT_FDCWD ? std::string() : pathOf(folder) + "/" + name;
}

static bool isInside(const std::string &path) {
  const char *folder = getenv("SLOW_FILES");
  return folder && *folder && path.compare(0, strlen(folder), folder) == 0;
}

/// Takes its time; whether the call fails.
static bool isStale(const std::string &path, bool mayBeStale = true) {
  static std::atomic<long> calls{0};
  static const long pause = numberOf("SLOW_FILES_US"), period = numberOf("SLOW_FILES_STALE");
  if (!isInside(path))
    return false;
  const timespec time{pause / 1000000, pause % 1000000 * 1000};
  nanosleep(&time, nullptr);
  if (!mayBeStale || period == 0 || calls.fetch_add(1) % period != period - 1)
    return false;
  errno = ESTALE;
  return true;
}

template <typename Function> static Function next(const char *name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

extern "C" {

int openat(int folder, const char *name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  static const auto real = next<int (*)(int, const char *, int, ...)>("openat");
  return isStale(pathOf(folder, name)) ? -1 : real(folder, name, flags, mode);
}

int open(const char *name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  static const auto real = next<int (*)(const char *, int, ...)>("open");
  return isStale(name) ? -1 : real(name, flags, mode);
}

int open64(const char *name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  static const auto real = next<int (*)(const char *, int, ...)>("open64");
  return isStale(name) ? -1 : real(name, flags, mode);
}

ssize_t read(int fd, void *bytes, size_t count) {
  static const auto real = next<ssize_t (*)(int, void *, size_t)>("read");
  return getenv("SLOW_FILES") && isStale(pathOf(fd)) ? -1 : real(fd, bytes, count);
}

int fsync(int fd) {
  static const auto real = next<int (*)(int)>("fsync");
  return isStale(pathOf(fd), /*mayBeStale=*/false) ? -1 : real(fd);
}

int renameat(int from, const char *old, int to, const char *name) {
  static const auto real = next<int (*)(int, const char *, int, const char *)>("renameat");
  return isStale(pathOf(to, name)) ? -1 : real(from, old, to, name);
}

int rename(const char *old, const char *name) {
  static const auto real = next<int (*)(const char *, const char *)>("rename");
  return isStale(name, /*mayBeStale=*/false) ? -1 : real(old, name);
}

int flock(int fd, int operation) {
  static const auto real = next<int (*)(int, int)>("flock");
  const std::string path = pathOf(fd);
  isStale(path, /*mayBeStale=*/false);
  const char *locks = getenv("SLOW_FILES_LOCKS");
  if (isInside(path) && locks && *locks == '0')
    return errno = ENOLCK, -1;
  return real(fd, operation);
}

} // extern "C"
