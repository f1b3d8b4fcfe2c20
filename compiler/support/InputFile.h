// Reads a file that a user named, whatever is at that path.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace nereid::support {

/// More than any text or library has; a device may have no end, and a sparse file more bytes than there is memory.
inline constexpr uint64_t kLargestInput = uint64_t(1) << 30;

/// A text: a file, a pipe or a device, read to its end.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> readInput(llvm::StringRef path);

/// A library, which is read more than once: only a regular file.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> readLibrary(llvm::StringRef path);

} // namespace nereid::support
