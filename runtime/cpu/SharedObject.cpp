// Loads shared objects through anonymous files, so that nothing is left on disk.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/SharedObject.h"

#include "runtime/WriteAll.h"
#include "runtime/cpu/LoaderGate.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace nereid::runtime {

using artifact::Error;
using artifact::Expected;

namespace {

/// A descriptor that is closed at the end of its scope.
struct Descriptor {
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (fd >= 0)
      close(fd);
  }
  const int fd;
};

} // namespace

/// "/task/TID" of this thread, as this /proc numbers it: it may be that of another namespace. Empty where it does not
/// tell.
static std::string ownTask() {
  std::array<char, 64> name; // "PID/task/TID"
  const ssize_t length = readlink("/proc/thread-self", name.data(), name.size());
  const std::string_view link(name.data(), std::max<ssize_t>(length, 0));
  const size_t at = link.find('/');
  return at == link.npos ? std::string() : std::string(link.substr(at));
}

/// A path to the descriptor that no earlier load has used. The system's loader identifies an object by its path, even
/// when the descriptor has been closed and reused for other bytes. So a serial number is encoded in the path, one bit
/// as "/." or "//", which do not change the path's meaning.
///
/// A debugger opens the paths of all objects: /proc/self/fd/N would be one of its own descriptors, such as a pipe, on
/// which it waits for ever. With a thread of this process in it, the path names nothing there.
static std::string uniquePath(int fd) {
  static std::atomic<uint64_t> serial{0};
  std::string path = "/proc/self" + ownTask() + "/fd";
  for (uint64_t rest = serial.fetch_add(1) + 1; rest != 0; rest >>= 1)
    path += (rest & 1) ? "/." : "//";
  return path + "/" + std::to_string(fd);
}

static Expected<void *> loadFrom(int fd, const std::string &path, std::string_view bytes) {
  if (!writeAll(fd, bytes))
    return Error{"load-binary", std::string("the kernel's code cannot be written to memory: ") + strerror(errno)};
  const LoaderGate gate;
  if (!gate.isHeld())
    return Error{"load-binary", "the kernel's code cannot be loaded: this process is the child of a fork beside a "
                                "thread that was loading a library; fork earlier, or start a new process"};
  if (void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
    return handle;
  const char *reason = dlerror();
  return Error{"load-binary",
               std::string("the kernel's code cannot be loaded: ") + (reason ? reason : "no reason given")};
}

static int openAnonymous(std::string_view name) {
  // Linux accepts names of up to 249 bytes.
  const std::string label = "nereid:" + std::string(name.substr(0, 200));
  return memfd_create(label.c_str(), MFD_CLOEXEC);
}

/// A private file in the folder, removed at once if a path can name its descriptor.
static Expected<void *> loadFromFolder(const char *folder, std::string_view bytes) {
  std::string path = std::string(folder) + "/nereid-XXXXXX";
  const Descriptor file(mkostemp(path.data(), O_CLOEXEC));
  if (file.fd < 0)
    return Error{"load-binary", std::string("no file can be made in ") + folder + ": " + strerror(errno)};
  const bool canNameDescriptor = access("/proc/self/fd", X_OK) == 0;
  if (canNameDescriptor)
    unlink(path.c_str());
  auto handle = loadFrom(file.fd, canNameDescriptor ? uniquePath(file.fd) : path, bytes);
  if (!canNameDescriptor)
    unlink(path.c_str());
  return handle;
}

/// Tries the folders in order: one may be full, or forbid executable files.
static Expected<void *> loadViaFile(std::string_view bytes) {
  Error last{"load-binary", "no folder for temporary files takes the kernel's code"};
  for (const char *folder : {"/dev/shm", "/tmp", "/var/tmp"}) {
    auto handle = loadFromFolder(folder, bytes);
    if (handle)
      return handle;
    last = handle.error();
  }
  return last;
}

static Expected<void *> loadBytes(std::string_view name, std::string_view bytes, SharedObject::Via via) {
  const Descriptor anonymous(via == SharedObject::Via::Memory ? openAnonymous(name) : -1);
  if (anonymous.fd < 0 || access("/proc/self/fd", X_OK) != 0)
    return loadViaFile(bytes);
  return loadFrom(anonymous.fd, uniquePath(anonymous.fd), bytes);
}

Expected<SharedObject> SharedObject::load(std::string_view name, std::string_view bytes, Via via) {
  const auto handle = loadBytes(name, bytes, via);
  if (!handle)
    return handle.error();
  return SharedObject(*handle);
}

SharedObject::SharedObject(SharedObject &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}

SharedObject &SharedObject::operator=(SharedObject &&other) noexcept {
  std::swap(handle, other.handle);
  return *this;
}

SharedObject::~SharedObject() {
  if (!handle)
    return;
  const LoaderGate gate;
  if (gate.isHeld())
    dlclose(handle);
}

void *SharedObject::symbol(const std::string &name) const {
  const LoaderGate gate;
  return gate.isHeld() ? dlsym(handle, name.c_str()) : nullptr;
}

} // namespace nereid::runtime
