// Files of one user in a folder that other users may access.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::jit {

/// A descriptor that is closed at the end of its scope.
class Descriptor {
public:
  explicit Descriptor(int fd = -1) : fd(fd) {}
  Descriptor(Descriptor &&other) noexcept : fd(other.fd) { other.fd = -1; }
  Descriptor &operator=(Descriptor &&other) noexcept;
  ~Descriptor();

  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd;
};

/// Opens a folder. With `make`, creates it and its parents, accessible to the owner alone. On failure `errno` holds the
/// reason.
Descriptor openFolder(const std::string &path, bool make);

/// Opens a folder inside another; refuses a link.
Descriptor openFolderAt(const Descriptor &parent, const std::string &name, bool make);

/// The result of reading a file that only its own user may have written.
struct FileContents {
  enum class State {
    Missing,
    Untrusted, ///< another's, writable by others, a link, not a plain file
    Unreadable,
    Read,
  } state = State::Missing;
  std::string bytes;
};

/// Reads a file and updates its access time, by which the least recently used is evicted first.
FileContents readPrivateFile(const Descriptor &folder, const std::string &name);

enum class Sync : bool { No, Yes };

/// Writes a file under a temporary name and renames it, so that readers see all of it or nothing. Empty on success,
/// else the system's message.
std::string replaceFile(const Descriptor &folder, const std::string &name, std::string_view bytes, Sync sync);

/// The prefix of temporary names.
inline constexpr std::string_view kAsidePrefix = ".aside-";

} // namespace nereid::jit
