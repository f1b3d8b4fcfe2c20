// Serializes an artifact to the bytes of its file; Format.h describes the layout.
// SPDX-License-Identifier: MIT
#include "artifact/Format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include <cstring>

namespace nereid::artifact {

// Level 1 compresses IR text about sixfold at hundreds of MB/s, so that storing does not slow down a compilation of a
// few milliseconds.
static constexpr int kCompressionLevel = 1;

static std::string canonicalOf(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  return {reinterpret_cast<const char *>(canonical.digest), sizeof canonical.digest};
}

std::string checksum(std::string_view bytes) { return canonicalOf(XXH3_128bits(bytes.data(), bytes.size())); }

std::string checksum(std::string_view first, std::string_view second) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, first.data(), first.size());
  XXH3_128bits_update(&state, second.data(), second.size());
  return canonicalOf(XXH3_128bits_digest(&state));
}

template <typename T> static void appendLittleEndian(std::string &out, T value) {
  for (size_t i = 0; i < sizeof value; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
}

/// Appends the stage to `blobs` in the shorter of its two forms.
static StoredStage packStage(const Stage &stage, std::string &blobs) {
  const size_t raw = stage.data.size();
  std::string packed(ZSTD_compressBound(raw), '\0');
  const size_t stored = ZSTD_compress(packed.data(), packed.size(), stage.data.data(), raw, kCompressionLevel);
  const bool compressed = !ZSTD_isError(stored) && stored < raw && raw <= uint64_t{stored} * kMaxExpansion;
  if (compressed)
    blobs.append(packed, 0, stored);
  else
    blobs.append(stage.data);
  return {stage.name, compressed ? stored : raw, raw, compressed};
}

std::string serialize(const Artifact &artifact) {
  BlobTable table{artifact.binary.size(), {}};
  std::string blobs = artifact.binary;
  for (const Stage &stage : artifact.stages)
    table.stages.push_back(packStage(stage, blobs));
  const std::string header = writeHeader(artifact, table);
  const uint64_t fileBytes = kPrologueBytes + header.size() + blobs.size() + kChecksumBytes;

  std::string file;
  file.reserve(fileBytes);
  file.append(kMagic);
  appendLittleEndian(file, kFormatVersion);
  appendLittleEndian(file, static_cast<uint32_t>(header.size()));
  appendLittleEndian(file, fileBytes);
  file.append(header);
  file.append(blobs);
  file.append(checksum(file));
  return file;
}

} // namespace nereid::artifact
