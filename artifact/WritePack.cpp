// Writes packs: Pack.h describes the layout.
// SPDX-License-Identifier: MIT
#include "artifact/PackFormat.h"

#include <nlohmann/json.hpp>
#include <sodium.h>

#include <cstring>
#include <map>

namespace nereid::artifact {

using Json = nlohmann::json;

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
  return hexOf(digest, sizeof digest);
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

static Json entryJson(const PackItem &item, const std::string &bytes) {
  const Artifact &artifact = item.artifact;
  return {{"key", item.key},
          {"name", artifact.name},
          {"signature", artifact.signature},
          {"backend", artifact.target.backend},
          {"arch", artifact.target.arch},
          {"features", artifact.target.features},
          {"warpSize", artifact.target.warpSize},
          {"abi", kPackAbis[artifact.abi == Abi::Own ? 1 : 0]},
          {"record", item.record},
          {"bytes", uint64_t{bytes.size()}},
          {"digest", digestOf(bytes)}};
}

/// Sets the entries' offsets, which depend on the bytes of the header that has them; returns the header's text.
static std::string placeEntries(Json &header) {
  std::string text;
  for (uint64_t start = kPackPrologueBytes;;) {
    uint64_t offset = aligned(start);
    for (Json &entry : header["entries"]) {
      entry["offset"] = offset;
      offset = aligned(offset + entry["bytes"].get<uint64_t>());
    }
    text = header.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
    if (aligned(kPackPrologueBytes + text.size()) <= aligned(start))
      return text;
    start = kPackPrologueBytes + text.size();
  }
}

template <typename T> static void putLittleEndian(std::string &file, size_t at, T value) {
  for (size_t i = 0; i < sizeof value; ++i)
    file[at + i] = static_cast<char>(value >> (8 * i));
}

Expected<std::string> writePack(std::span<const PackItem> items, const std::string &producer, const std::string &lock,
                                std::string_view seed) {
  if (!seed.empty() && seed.size() != kSeedBytes)
    return Error{"pack-key",
                 "a signing key has " + std::to_string(kSeedBytes) + " bytes, got " + std::to_string(seed.size())};
  std::map<std::string, std::pair<const PackItem *, std::string>> byKey;
  for (const PackItem &item : items)
    byKey.try_emplace(item.key, &item, serialize(item.artifact));
  Json header{{"producer", producer}, {"lock", lock}, {"entries", Json::array()}};
  for (const auto &[key, content] : byKey)
    header["entries"].push_back(entryJson(*content.first, content.second));
  const std::string text = placeEntries(header);
  if (text.size() > UINT32_MAX)
    return Error{"pack-header", "the header of the pack has more than 4 GiB"};

  std::string file(kPackPrologueBytes, '\0');
  file.replace(0, kPackMagic.size(), kPackMagic);
  file += text;
  size_t index = 0;
  for (const auto &[key, content] : byKey) {
    file.resize(header["entries"][index++]["offset"].get<uint64_t>());
    file += content.second;
  }
  putLittleEndian(file, kVersionAt, kPackVersion);
  putLittleEndian(file, kHeaderBytesAt, static_cast<uint32_t>(text.size()));
  putLittleEndian(file, kFileBytesAt, uint64_t{file.size()});
  const std::string covered = signedBytes(file);
  file.replace(kPackChecksumAt, kChecksumBytes, checksum(covered));
  if (!seed.empty()) {
    const SigningKey key(seed);
    crypto_sign_detached(reinterpret_cast<unsigned char *>(file.data() + kPackSignatureAt), nullptr,
                         reinterpret_cast<const unsigned char *>(covered.data()), covered.size(), key.secret);
  }
  return file;
}

} // namespace nereid::artifact
