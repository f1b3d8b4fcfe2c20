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

/// The header: these numbers, the rows, the texts. A text is named by 8 bytes, its offset among the texts and its size.
inline constexpr size_t kPackCountAt = 0;
inline constexpr size_t kPackTextBytesAt = 4;
inline constexpr size_t kPackProducerAt = 8;
inline constexpr size_t kPackLockAt = 16;
inline constexpr size_t kPackRowsAt = 24;

/// A row: its digest, numbers and texts.
inline constexpr size_t kRowDigestAt = 0;
inline constexpr size_t kRowOffsetAt = 32;
inline constexpr size_t kRowBytesAt = 40;
inline constexpr size_t kRowWarpSizeAt = 48;
inline constexpr size_t kRowAbiAt = 52;
inline constexpr size_t kRowTextsAt = 56;
inline constexpr size_t kTextNameBytes = 8;
/// The texts of a row in their order, as they are called in messages.
enum class RowText : uint8_t { Key, Name, Signature, Backend, Arch, Features, Record };
inline constexpr const char *kRowTextNames[] = {"key", "name", "signature", "backend", "arch", "features", "record"};
inline constexpr size_t kRowTexts = std::size(kRowTextNames);
inline constexpr size_t kRowBytes = kRowTextsAt + kRowTexts * kTextNameBytes;

/// The header of a file whose prologue is right.
inline std::string_view headerOf(std::string_view file) {
  return file.substr(kPackPrologueBytes, littleEndianAt<uint32_t>(file, kHeaderBytesAt));
}

/// What the signature covers.
inline std::string signedBytes(std::string_view file) {
  return std::string(file.substr(0, kPackChecksumAt)).append(headerOf(file));
}

/// The checksum of the same bytes.
inline std::string packChecksum(std::string_view file) {
  return checksum(file.substr(0, kPackChecksumAt), headerOf(file));
}

/// To be called before other functions of libsodium.
void startSodium();

/// The BLAKE2b-256 of an entry.
std::string digestOf(std::string_view bytes);

} // namespace nereid::artifact
