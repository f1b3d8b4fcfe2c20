// Files of one user in a folder that others may reach.
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

/// Opens a folder. With `make`, creates it and what lies above it, open to its
/// owner alone. On failure `errno` says why.
Descriptor openFolder(const std::string &path, bool make);

/// The same for a folder inside another; a link in its place is refused.
Descriptor openFolderAt(const Descriptor &parent, const std::string &name, bool make);

/// What a file gives to a reader who trusts only its own user.
struct FileContents {
  enum class State {
    Missing,
    Untrusted, ///< another's, writable by others, a link, not a plain file
    Unreadable,
    Read,
  } state = State::Missing;
  std::string bytes;
};

/// Reads a file and marks it as used: what is used least recently is evicted first.
FileContents readPrivateFile(const Descriptor &folder, const std::string &name);

enum class Sync : bool { No, Yes };

/// Writes a file aside and renames it, so that readers see it whole or not at
/// all. Empty on success, else what the system said.
std::string replaceFile(const Descriptor &folder, const std::string &name, std::string_view bytes, Sync sync);

/// Begins the names of files that are not yet whole.
inline constexpr std::string_view kAsidePrefix = ".aside-";

} // namespace nereid::jit
