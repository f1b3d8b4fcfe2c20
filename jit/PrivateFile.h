// Files of one user in a folder that other users may access.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace nereid::jit {

/// A descriptor that is closed at the end of its scope.
class Descriptor {
public:
  explicit Descriptor(int fd = -1) : fd(fd) {}
  Descriptor(Descriptor &&other) noexcept : fd(other.fd) { other.fd = -1; }
  Descriptor &operator=(Descriptor &&other) noexcept;
  ~Descriptor();

  int get() const { return fd; }
  /// The descriptor, which the caller then closes.
  int release() { return std::exchange(fd, -1); }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd;
};

/// A network file system answers ESTALE where another machine has replaced a file or folder: opened anew it is there.
inline constexpr int kStaleTrials = 3;

/// Opens a folder. With `make`, creates it and its parents, accessible to the owner alone. On failure `errno` holds the
/// reason.
Descriptor openFolder(const std::string &path, bool make);

/// Opens a folder inside another; refuses a link.
Descriptor openFolderAt(const Descriptor &parent, const std::string &name, bool make);

/// The result of reading a file that only its own user, or root, may have written.
struct FileContents {
  enum class State {
    Missing,
    Untrusted, ///< of another user than root, writable by others, a link, not a plain file
    Unreadable,
    Read,
  } state = State::Missing;
  std::string bytes;
  int error = 0; ///< the system's number, where it is not read
};

/// Reads a file and updates its access time, by which the least recently used is evicted first.
FileContents readPrivateFile(const Descriptor &folder, const std::string &name);

enum class Sync : bool { No, Yes };

/// Writes a file under a temporary name and renames it, so that readers see all of it or nothing. 0 on success, else
/// the system's number of the error.
int replaceFile(const Descriptor &folder, const std::string &name, std::string_view bytes, Sync sync);

/// Waits until the disk has the file.
void syncFile(const Descriptor &folder, const std::string &name);

/// The prefix of temporary names.
inline constexpr std::string_view kAsidePrefix = ".aside-";

} // namespace nereid::jit
