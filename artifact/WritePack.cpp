// Writes packs: Pack.h describes the layout.
// SPDX-License-Identifier: MIT
#include "artifact/PackFormat.h"

#include <sodium.h>

#include <map>
#include <unordered_map>

namespace nereid::artifact {

static std::string hexOf(const unsigned char *bytes, size_t count) {
  std::string text(2 * count + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes, count);
  text.pop_back();
  return text;
}

void startSodium() {
  static const int status = sodium_init(); // a failure leaves the slower of two implementations
  (void)status;
}

std::string digestOf(std::string_view bytes) {
  startSodium();
  unsigned char digest[kDigestBytes];
  crypto_generichash(digest, sizeof digest, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(),
                     nullptr, 0);
  return {reinterpret_cast<const char *>(digest), sizeof digest};
}

namespace {
struct SigningKey {
  unsigned char publicKey[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];

  explicit SigningKey(std::string_view seed) {
    static_assert(crypto_sign_SEEDBYTES == kSeedBytes && crypto_sign_BYTES == kPackSignatureBytes);
    startSodium();
    crypto_sign_seed_keypair(publicKey, secret, reinterpret_cast<const unsigned char *>(seed.data()));
  }
  ~SigningKey() { sodium_memzero(secret, sizeof secret); }
};
} // namespace

std::string publicKeyOf(std::string_view seed) {
  const SigningKey key(seed);
  return hexOf(key.publicKey, sizeof key.publicKey);
}

static uint64_t aligned(uint64_t offset) { return (offset + kPackAlignment - 1) / kPackAlignment * kPackAlignment; }

template <typename T> static void putLittleEndian(std::string &file, size_t at, T value) {
  for (size_t i = 0; i < sizeof value; ++i)
    file[at + i] = static_cast<char>(value >> (8 * i));
}

namespace {
/// The texts of a header, equal ones once.
struct TextTable {
  std::string texts = {};
  std::unordered_map<std::string, size_t> offsets = {};

  /// Writes what names the text.
  void put(std::string &names, size_t at, const std::string &text) {
    const auto [known, isNew] = offsets.try_emplace(text, texts.size());
    if (isNew)
      texts += text;
    putLittleEndian(names, at, static_cast<uint32_t>(known->second));
    putLittleEndian(names, at + 4, static_cast<uint32_t>(text.size()));
  }
};

struct EntryFile {
  const PackItem *item;
  std::string bytes;
};
} // namespace

static std::string rowOf(const EntryFile &entry, TextTable &texts) {
  const Artifact &artifact = entry.item->artifact;
  std::string row(kRowBytes, '\0');
  row.replace(kRowDigestAt, kDigestBytes, digestOf(entry.bytes));
  putLittleEndian(row, kRowBytesAt, uint64_t{entry.bytes.size()});
  putLittleEndian(row, kRowWarpSizeAt, artifact.target.warpSize);
  putLittleEndian(row, kRowAbiAt, static_cast<uint32_t>(artifact.abi));
  size_t at = kRowTextsAt;
  for (const std::string *text : {&entry.item->key, &artifact.name, &artifact.signature, &artifact.target.backend,
                                  &artifact.target.arch, &artifact.target.features, &entry.item->record}) {
    texts.put(row, at, *text);
    at += kTextNameBytes;
  }
  return row;
}

using Entries = std::map<std::string, EntryFile>; ///< by key

/// The header but for the offsets of its entries.
static Expected<std::string> headerFor(const Entries &entries, const std::string &producer, const std::string &lock) {
  TextTable texts;
  std::string header(kPackRowsAt, '\0');
  texts.put(header, kPackProducerAt, producer);
  texts.put(header, kPackLockAt, lock);
  for (const auto &[key, entry] : entries)
    header += rowOf(entry, texts);
  if (header.size() + texts.texts.size() > UINT32_MAX)
    return Error{"pack-header", "the header of the pack has more than 4 GiB"};
  putLittleEndian(header, kPackCountAt, static_cast<uint32_t>(entries.size()));
  putLittleEndian(header, kPackTextBytesAt, static_cast<uint32_t>(texts.texts.size()));
  return header + texts.texts;
}

Expected<std::string> writePack(std::span<const PackItem> items, const std::string &producer, const std::string &lock,
                                std::string_view seed) {
  if (!seed.empty() && seed.size() != kSeedBytes)
    return Error{"pack-key",
                 "a signing key has " + std::to_string(kSeedBytes) + " bytes, got " + std::to_string(seed.size())};
  Entries entries;
  for (const PackItem &item : items)
    entries.try_emplace(item.key, &item, serialize(item.artifact));
  const auto header = headerFor(entries, producer, lock);
  if (!header)
    return header.error();

  std::string file(kPackPrologueBytes, '\0');
  file.replace(0, kPackMagic.size(), kPackMagic);
  file += *header;
  size_t row = kPackPrologueBytes + kPackRowsAt;
  for (const auto &[key, entry] : entries) {
    file.resize(aligned(file.size()));
    putLittleEndian(file, row + kRowOffsetAt, uint64_t{file.size()});
    file += entry.bytes;
    row += kRowBytes;
  }
  putLittleEndian(file, kVersionAt, kPackVersion);
  putLittleEndian(file, kHeaderBytesAt, static_cast<uint32_t>(header->size()));
  putLittleEndian(file, kFileBytesAt, uint64_t{file.size()});
  file.replace(kPackChecksumAt, kChecksumBytes, packChecksum(file));
  if (!seed.empty()) {
    const SigningKey key(seed);
    const std::string covered = signedBytes(file);
    crypto_sign_detached(reinterpret_cast<unsigned char *>(file.data() + kPackSignatureAt), nullptr,
                         reinterpret_cast<const unsigned char *>(covered.data()), covered.size(), key.secret);
  }
  return file;
}

} // namespace nereid::artifact
