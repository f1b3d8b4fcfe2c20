// A pack: one relocatable file of kernels for many targets and variants, which is mapped into memory.
// SPDX-License-Identifier: MIT
//
// docs/pack-format.md is the specification.
//
//   0    8   magic; begins and ends so that text-mode copies break it visibly
//   8    4   format version    (all numbers little-endian)
//   12   4   bytes of the header
//   16   8   bytes of the whole file
//   24   16  XXH3-128 of bytes 0 to 24 and the header, big-endian as its canonical form
//   40   64  Ed25519 signature of the same bytes; zeros where the pack is not signed
//   104      header: a row of fixed size for each entry, sorted by key, and the texts that rows name
//            the entries, each the file of an artifact (Format.h), at multiples of 64
//
// Opening checks the rows and builds nothing from them: a process that takes three kernels of a thousand reads three.
#pragma once

#include "artifact/Artifact.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nereid::artifact {

inline constexpr uint32_t kPackVersion = 2;
inline constexpr size_t kPublicKeyBytes = 32;
inline constexpr size_t kSeedBytes = 32;

/// One kernel of a pack. The texts are those of the mapped file: they live as long as the pack.
struct PackEntry {
  std::string_view key;                     ///< lower-case hex: what names it for a lookup, 8 to 128 digits
  std::string_view name;                    ///< of the kernel in its source
  std::string_view signature;               ///< as the command line's --signature
  std::string_view backend, arch, features; ///< of its target
  uint32_t warpSize = 0;
  Abi abi = Abi::Plain;
  std::string_view record; ///< what made it, as JSON for the host that did; may be empty
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string_view digest; ///< BLAKE2b-256 of its bytes

  /// "cpu:x86-64-v3"
  std::string targetText() const;
};

/// A kernel that shall become an entry; `bytes` is the artifact's file.
struct PackItem {
  std::string key;
  std::string record;
  const Artifact &artifact;
};

/// The bytes of a pack with these kernels, in the order of their keys; of equal keys the first one stays. `lock` is the
/// text of a lock file with an autotuner's decisions, or empty. A `seed` of kSeedBytes signs it; empty: not signed.
Expected<std::string> writePack(std::span<const PackItem> items, const std::string &producer, const std::string &lock,
                                std::string_view seed = {});

/// The public key, in hex, that belongs to a seed of kSeedBytes.
std::string publicKeyOf(std::string_view seed);

/// An open pack. Any number of threads may read it.
class Pack {
public:
  /// Opens a file and checks its header; `publicKey` (hex) must have signed it, unless it is empty. Errors have the
  /// codes `pack-unreadable`, `pack-truncated`, `pack-magic`, `pack-version`, `pack-checksum`, `pack-header`,
  /// `pack-key`, `pack-signature`; each text names the file.
  static Expected<std::shared_ptr<const Pack>> open(const std::string &path, const std::string &publicKey = {});
  ~Pack();
  Pack(const Pack &) = delete;

  const std::string &path() const { return file; }
  std::string_view producer() const; ///< the version of Nereid that wrote it
  std::string_view lock() const;
  bool isSigned() const { return hasSignature; }
  size_t size() const { return count; } ///< the number of entries
  PackEntry entry(size_t index) const;  ///< in the order of their keys

  std::optional<PackEntry> find(std::string_view key) const;
  /// The kernel of an entry; an error, `pack-entry` or one of an artifact, where its bytes are damaged.
  Expected<Artifact> load(const PackEntry &entry) const;

private:
  explicit Pack(std::string path) : file(std::move(path)) {}
  Expected<void> map();
  Expected<void> checkHeader();
  Expected<void> checkSignature(const std::string &publicKey);
  std::string_view bytes() const { return {data, fileBytes}; }
  std::string_view row(size_t index) const;
  /// The text that the 8 bytes at `at` of a row or of the header name; nothing where it is not among the texts.
  std::optional<std::string_view> textAt(std::string_view names, size_t at) const;
  std::string wrongMember(size_t index) const;

  std::string file;
  const char *data = nullptr;
  size_t fileBytes = 0;
  std::string signedCopy; ///< of the bytes that a checked signature covers: the file may change under us
  std::string_view header;
  size_t count = 0;
  bool hasSignature = false;
  bool checksDigests = false; ///< the signature covers the digests
};

} // namespace nereid::artifact
