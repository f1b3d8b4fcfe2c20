// Deserializes an artifact from untrusted bytes.
// SPDX-License-Identifier: MIT
#include "artifact/Format.h"

#include <zstd.h>

namespace nereid::artifact {

namespace {

/// The bytes left to read; every step is checked against them.
struct Cursor {
  std::string_view rest;

  bool take(uint64_t bytes, std::string_view &out) {
    if (bytes > rest.size())
      return false;
    out = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    return true;
  }
};

} // namespace

/// Checks everything that does not depend on the header.
static Expected<void> checkFrame(std::string_view file) {
  if (file.size() < kPrologueBytes + kChecksumBytes)
    return Error{"artifact-truncated", "an artifact of " + std::to_string(file.size()) + " bytes is cut short"};
  if (!file.starts_with(kMagic))
    return Error{"artifact-magic", "the bytes are no Nereid artifact"};
  const auto version = littleEndianAt<uint32_t>(file, kVersionAt);
  if (version != kFormatVersion)
    return Error{"artifact-version", "the artifact has format " + std::to_string(version) +
                                         "; this build reads format " + std::to_string(kFormatVersion)};
  const auto fileBytes = littleEndianAt<uint64_t>(file, kFileBytesAt);
  if (fileBytes != file.size())
    return Error{"artifact-truncated", "the artifact should have " + std::to_string(fileBytes) + " bytes and has " +
                                           std::to_string(file.size())};
  const size_t bodyBytes = file.size() - kChecksumBytes;
  if (checksum(file.substr(0, bodyBytes)) != file.substr(bodyBytes))
    return Error{"artifact-checksum", "the artifact's checksum does not match its bytes"};
  return {};
}

static Expected<void> unpackStage(const StoredStage &stored, Cursor &cursor, Stage &stage) {
  const Error broken{"artifact-blob", "stage `" + stored.name + "` of the artifact is damaged"};
  std::string_view bytes;
  if (!cursor.take(stored.storedBytes, bytes))
    return broken;
  stage.name = stored.name;
  if (!stored.compressed) {
    stage.data = bytes;
    return stored.rawBytes == bytes.size() ? Expected<void>() : broken;
  }
  // The product cannot overflow: the stored bytes lie in memory.
  if (stored.rawBytes > bytes.size() * kMaxExpansion)
    return broken;
  stage.data.resize(stored.rawBytes);
  const size_t written = ZSTD_decompress(stage.data.data(), stage.data.size(), bytes.data(), bytes.size());
  return !ZSTD_isError(written) && written == stored.rawBytes ? Expected<void>() : broken;
}

static Expected<void> readBlobs(const BlobTable &table, Cursor &cursor, Artifact &artifact) {
  std::string_view binary;
  if (!cursor.take(table.binaryBytes, binary))
    return Error{"artifact-blob", "the artifact's binary is cut short"};
  artifact.binary = binary;
  for (const StoredStage &stored : table.stages)
    if (auto ok = unpackStage(stored, cursor, artifact.stages.emplace_back()); !ok)
      return ok;
  if (!cursor.rest.empty())
    return Error{"artifact-blob", "the artifact has bytes that no field names"};
  return {};
}

Expected<Artifact> deserialize(std::span<const char> bytes) {
  const std::string_view file(bytes.data(), bytes.size());
  if (auto ok = checkFrame(file); !ok)
    return ok.error();
  Cursor cursor{file.substr(kPrologueBytes, file.size() - kPrologueBytes - kChecksumBytes)};
  std::string_view header;
  if (!cursor.take(littleEndianAt<uint32_t>(file, kHeaderBytesAt), header))
    return Error{"artifact-header", "the artifact's header is cut short"};
  Artifact artifact;
  BlobTable table;
  if (auto ok = readHeader(header, artifact, table); !ok)
    return ok.error();
  if (auto ok = readBlobs(table, cursor, artifact); !ok)
    return ok.error();
  return artifact;
}

} // namespace nereid::artifact
