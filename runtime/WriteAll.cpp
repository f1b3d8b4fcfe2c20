// Calls write() until all bytes are written: it may write fewer than given, and signals may interrupt it.
// SPDX-License-Identifier: MIT
#include "runtime/WriteAll.h"

#include <cerrno>
#include <unistd.h>

bool nereid::runtime::writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}
