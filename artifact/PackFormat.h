// Offsets, limits and hashes of the file of a pack, for its reader and its writer.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Format.h"
#include "artifact/Pack.h"

namespace nereid::artifact {

inline constexpr std::string_view kPackMagic{"\x89NRP\r\n\x1a\n", 8};
inline constexpr size_t kPackChecksumAt = 24;
inline constexpr size_t kPackSignatureAt = 40;
inline constexpr size_t kPackSignatureBytes = 64;
inline constexpr size_t kPackPrologueBytes = 104;
inline constexpr size_t kPackAlignment = 64; ///< of an entry's offset
inline constexpr size_t kDigestBytes = 32;
inline constexpr size_t kLeastKeyDigits = 8, kMostKeyDigits = 128;
inline constexpr std::string_view kPackAbis[] = {"plain", "own"};

/// The header of a file whose prologue is right.
inline std::string_view headerOf(std::string_view file) {
  return file.substr(kPackPrologueBytes, littleEndianAt<uint32_t>(file, kHeaderBytesAt));
}

/// What the checksum and the signature cover.
inline std::string signedBytes(std::string_view file) {
  return std::string(file.substr(0, kPackChecksumAt)).append(headerOf(file));
}

/// To be called before other functions of libsodium.
void startSodium();

/// The BLAKE2b-256 of an entry, in hex.
std::string digestOf(std::string_view bytes);

} // namespace nereid::artifact
