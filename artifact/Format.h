// The file layout of an artifact.
// SPDX-License-Identifier: MIT
//
//   0   8  magic; begins and ends so that text-mode copies break it visibly
//   8   4  format version    (all numbers little-endian)
//   12  4  bytes of the header
//   16  8  bytes of the whole file
//   24     header: JSON, every field of Artifact but the blobs
//          the binary, as it is
//          the stages, each zstd-compressed or as it is
//   -16 16 XXH3-128 of everything before, big-endian as its canonical form
#pragma once

#include "artifact/Artifact.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::artifact {

inline constexpr std::string_view kMagic{"\x89NRK\r\n\x1a\n", 8};
inline constexpr size_t kVersionAt = 8;
inline constexpr size_t kHeaderBytesAt = 12;
inline constexpr size_t kFileBytesAt = 16;
inline constexpr size_t kPrologueBytes = 24;
inline constexpr size_t kChecksumBytes = 16;

/// The compression limit: a stage that shrinks further is stored uncompressed, so that the size of the file bounds what
/// a reader allocates.
inline constexpr uint64_t kMaxExpansion = 1024;

/// How a stage is stored; names and order are those of the stages.
struct StoredStage {
  std::string name;
  uint64_t storedBytes = 0;
  uint64_t rawBytes = 0;
  bool compressed = false;
};

/// The parts of the file that are not fields of the artifact.
struct BlobTable {
  uint64_t binaryBytes = 0;
  std::vector<StoredStage> stages;
};

template <typename T> T littleEndianAt(std::string_view bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof value; ++i)
    value |= static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

/// The checksum in the last 16 bytes of a file, given its other bytes.
std::string checksum(std::string_view bytes);
/// The same of two ranges, as if one followed the other.
std::string checksum(std::string_view first, std::string_view second);

/// The header of the file. Parsing fails on anything but an object that holds every field with its own type and within
/// its range.
std::string writeHeader(const Artifact &artifact, const BlobTable &blobs);
Expected<void> readHeader(std::string_view text, Artifact &artifact, BlobTable &blobs);

} // namespace nereid::artifact
