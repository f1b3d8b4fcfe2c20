// Reads files up to a size, and pipes and devices up to that many bytes.
// SPDX-License-Identifier: MIT
#include "compiler/support/InputFile.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"

using namespace nereid;
namespace fs = llvm::sys::fs;
using Contents = llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>;

static Contents readRegular(llvm::StringRef path, const fs::file_status &status) {
  if (status.getSize() > support::kLargestInput)
    return std::make_error_code(std::errc::file_too_large);
  return llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
}

static Contents readStream(llvm::StringRef path) {
  auto file = fs::openNativeFileForRead(path);
  if (!file)
    return llvm::errorToErrorCode(file.takeError());
  llvm::scope_exit close([&] { fs::closeFile(*file); });
  llvm::SmallVector<char, 0> bytes;
  constexpr size_t step = 1 << 16;
  while (bytes.size() <= support::kLargestInput) {
    const size_t size = bytes.size();
    bytes.resize_for_overwrite(size + step);
    auto read = fs::readNativeFile(*file, llvm::MutableArrayRef(bytes).drop_front(size));
    if (!read)
      return llvm::errorToErrorCode(read.takeError());
    bytes.truncate(size + *read);
    if (*read == 0)
      return llvm::MemoryBuffer::getMemBufferCopy({bytes.data(), bytes.size()}, path);
  }
  return std::make_error_code(std::errc::file_too_large);
}

Contents support::readInput(llvm::StringRef path) {
  fs::file_status status;
  if (std::error_code error = fs::status(path, status))
    return error;
  const bool isStream = status.type() == fs::file_type::fifo_file || status.type() == fs::file_type::character_file;
  return isStream ? readStream(path) : readRegular(path, status);
}

Contents support::readLibrary(llvm::StringRef path) {
  fs::file_status status;
  if (std::error_code error = fs::status(path, status))
    return error;
  if (status.type() == fs::file_type::directory_file)
    return std::make_error_code(std::errc::is_a_directory);
  if (status.type() != fs::file_type::regular_file)
    return std::make_error_code(std::errc::not_supported);
  return readRegular(path, status);
}
