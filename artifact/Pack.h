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
//   104      header: JSON, with the entries' offsets, sizes and BLAKE2b-256 digests
//            the entries, each the file of an artifact (Format.h), at multiples of 64
#pragma once

#include "artifact/Artifact.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nereid::artifact {

inline constexpr uint32_t kPackVersion = 1;
inline constexpr size_t kPublicKeyBytes = 32;
inline constexpr size_t kSeedBytes = 32;

/// One kernel of a pack.
struct PackEntry {
  std::string key;       ///< lower-case hex: what names it for a lookup, 8 to 128 digits
  std::string name;      ///< of the kernel in its source
  std::string signature; ///< as the command line's --signature
  Target target;
  Abi abi = Abi::Plain;
  std::string record; ///< what made it, as JSON for the host that did; may be empty
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string digest; ///< lower-case hex
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
  const std::string &producer() const { return producedBy; } ///< the version of Nereid that wrote it
  const std::string &lock() const { return lockText; }
  bool isSigned() const { return hasSignature; }
  const std::vector<PackEntry> &entries() const { return list; }

  const PackEntry *find(std::string_view key) const;
  /// The kernel of an entry; an error, `pack-entry` or one of an artifact, where its bytes are damaged.
  Expected<Artifact> load(const PackEntry &entry) const;

private:
  explicit Pack(std::string path) : file(std::move(path)) {}
  Expected<void> map();
  Expected<void> readHeader();
  Expected<void> checkSignature(const std::string &publicKey) const;
  std::string_view bytes() const { return {data, size}; }

  std::string file, producedBy, lockText;
  const char *data = nullptr;
  size_t size = 0;
  bool hasSignature = false;
  bool checksDigests = false; ///< the signature covers the digests
  std::vector<PackEntry> list;
  std::unordered_map<std::string_view, size_t> byKey; ///< the keys are those of `list`
};

} // namespace nereid::artifact
