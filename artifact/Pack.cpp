// Opens a pack from untrusted bytes.
// SPDX-License-Identifier: MIT
#include "artifact/PackFormat.h"

#include <nlohmann/json.hpp>
#include <sodium.h>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid::artifact {

using Json = nlohmann::json;

static Error problem(const std::string &path, const char *code, const std::string &text) {
  return {code, path + ": " + text};
}

//--- The file ----------------------------------------------------------------------------------

Expected<void> Pack::map() {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status{};
  if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    const int reason = fd < 0 ? errno : 0;
    if (fd >= 0)
      close(fd);
    return problem(file, "pack-unreadable", reason ? std::strerror(reason) : "not a plain file");
  }
  size = static_cast<size_t>(status.st_size);
  void *address = size == 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  const int reason = errno;
  close(fd);
  if (size != 0 && address == MAP_FAILED)
    return problem(file, "pack-unreadable", std::strerror(reason));
  data = size == 0 ? nullptr : static_cast<const char *>(address);
  return {};
}

Pack::~Pack() {
  if (data)
    munmap(const_cast<char *>(data), size);
}

static Expected<void> checkFrame(std::string_view file, const std::string &path) {
  if (file.size() < kPackPrologueBytes)
    return problem(path, "pack-truncated", "a pack of " + std::to_string(file.size()) + " bytes is cut short");
  if (!file.starts_with(kPackMagic))
    return problem(path, "pack-magic", "the file is no pack of kernels");
  const auto version = littleEndianAt<uint32_t>(file, kVersionAt);
  if (version != kPackVersion)
    return problem(path, "pack-version",
                   "the pack has format " + std::to_string(version) + "; this build reads format " +
                       std::to_string(kPackVersion));
  const auto fileBytes = littleEndianAt<uint64_t>(file, kFileBytesAt);
  if (fileBytes != file.size())
    return problem(path, "pack-truncated",
                   "the pack should have " + std::to_string(fileBytes) + " bytes and has " +
                       std::to_string(file.size()));
  if (littleEndianAt<uint32_t>(file, kHeaderBytesAt) > file.size() - kPackPrologueBytes)
    return problem(path, "pack-header", "the pack's header is cut short");
  if (checksum(signedBytes(file)) != file.substr(kPackChecksumAt, kChecksumBytes))
    return problem(path, "pack-checksum", "the checksum of the pack's header does not match its bytes");
  return {};
}

//--- The header --------------------------------------------------------------------------------

namespace {
/// Reads members of one JSON object; remembers the first one that is missing or wrong.
struct Members {
  const Json &object;
  std::string wrong = {};

  const Json *find(const char *name, bool isRight(const Json &)) {
    const auto at = object.is_object() ? object.find(name) : object.end();
    const bool isFound = object.is_object() && at != object.end() && isRight(*at);
    if (!isFound && wrong.empty())
      wrong = name;
    return isFound ? &*at : nullptr;
  }
  void read(const char *name, std::string &text) {
    if (const Json *json = find(name, [](const Json &value) { return value.is_string(); }))
      text = json->get_ref<const std::string &>();
  }
  void read(const char *name, uint64_t &number) {
    if (const Json *json = find(name, [](const Json &value) { return value.is_number_unsigned(); }))
      number = json->get<uint64_t>();
  }
};
} // namespace

static bool isHex(std::string_view text, size_t least, size_t most) {
  return text.size() >= least && text.size() <= most &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The name of the member that is missing or wrong; empty where all are right.
static std::string readEntry(const Json &json, uint64_t fileBytes, PackEntry &entry) {
  Members members{json};
  std::string abi;
  uint64_t warpSize = 0;
  members.read("key", entry.key);
  members.read("name", entry.name);
  members.read("signature", entry.signature);
  members.read("backend", entry.target.backend);
  members.read("arch", entry.target.arch);
  members.read("features", entry.target.features);
  members.read("warpSize", warpSize);
  members.read("abi", abi);
  members.read("record", entry.record);
  members.read("offset", entry.offset);
  members.read("bytes", entry.bytes);
  members.read("digest", entry.digest);
  if (!members.wrong.empty())
    return members.wrong;
  entry.target.warpSize = static_cast<uint32_t>(warpSize);
  entry.abi = abi == kPackAbis[1] ? Abi::Own : Abi::Plain;
  if (!isHex(entry.key, kLeastKeyDigits, kMostKeyDigits))
    return "key";
  if (abi != kPackAbis[0] && abi != kPackAbis[1])
    return "abi";
  if (warpSize > UINT32_MAX)
    return "warpSize";
  if (entry.offset > fileBytes)
    return "offset";
  if (entry.bytes > fileBytes - entry.offset)
    return "bytes";
  return isHex(entry.digest, 2 * kDigestBytes, 2 * kDigestBytes) ? "" : "digest";
}

Expected<void> Pack::readHeader() {
  const std::string_view text = headerOf(bytes());
  const Json header = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  Members members{header};
  members.read("producer", producedBy);
  members.read("lock", lockText);
  const Json *entries = members.find("entries", [](const Json &value) { return value.is_array(); });
  if (!entries)
    return problem(file, "pack-header", "the pack's header has no right `" + members.wrong + "`");
  if (!members.wrong.empty())
    return problem(file, "pack-header", "the pack's header has no right `" + members.wrong + "`");
  list.reserve(entries->size());
  for (const Json &json : *entries)
    if (const std::string wrong = readEntry(json, size, list.emplace_back()); !wrong.empty())
      return problem(file, "pack-header",
                     "entry " + std::to_string(list.size()) + " of the pack has no right `" + wrong + "`");
  for (size_t i = 0; i < list.size(); ++i)
    byKey.emplace(list[i].key, i);
  return {};
}

//--- Signatures --------------------------------------------------------------------------------

Expected<void> Pack::checkSignature(const std::string &publicKey) const {
  startSodium();
  unsigned char key[crypto_sign_PUBLICKEYBYTES];
  size_t keyBytes = 0;
  static_assert(sizeof key == kPublicKeyBytes);
  if (publicKey.size() != 2 * sizeof key ||
      sodium_hex2bin(key, sizeof key, publicKey.data(), publicKey.size(), nullptr, &keyBytes, nullptr) != 0 ||
      keyBytes != sizeof key)
    return problem(file, "pack-key",
                   "a public key has " + std::to_string(2 * sizeof key) + " hexadecimal digits, got `" + publicKey +
                       "`");
  if (!hasSignature)
    return problem(file, "pack-signature",
                   "the pack is not signed, and a signature by key " + publicKey + " is wanted");
  const std::string covered = signedBytes(bytes());
  const auto *signature = reinterpret_cast<const unsigned char *>(data + kPackSignatureAt);
  const auto *message = reinterpret_cast<const unsigned char *>(covered.data());
  if (crypto_sign_verify_detached(signature, message, covered.size(), key) != 0)
    return problem(file, "pack-signature", "the pack's signature is not one by key " + publicKey);
  return {};
}

//--- Reading -----------------------------------------------------------------------------------

Expected<std::shared_ptr<const Pack>> Pack::open(const std::string &path, const std::string &publicKey) {
  std::shared_ptr<Pack> pack(new Pack(path));
  if (auto ok = pack->map(); !ok)
    return ok.error();
  if (auto ok = checkFrame(pack->bytes(), path); !ok)
    return ok.error();
  pack->hasSignature =
      pack->bytes().substr(kPackSignatureAt, crypto_sign_BYTES).find_first_not_of('\0') != std::string_view::npos;
  if (!publicKey.empty())
    if (auto ok = pack->checkSignature(publicKey); !ok)
      return ok.error();
  pack->checksDigests = !publicKey.empty();
  if (auto ok = pack->readHeader(); !ok)
    return ok.error();
  return std::shared_ptr<const Pack>(std::move(pack));
}

const PackEntry *Pack::find(std::string_view key) const {
  const auto at = byKey.find(key);
  return at == byKey.end() ? nullptr : &list[at->second];
}

Expected<Artifact> Pack::load(const PackEntry &entry) const {
  const std::string_view content = bytes().substr(entry.offset, entry.bytes);
  const std::string where = "kernel `" + entry.name + "` (" + entry.key.substr(0, 12) + ") of the pack";
  if (checksDigests && digestOf(content) != entry.digest)
    return problem(file, "pack-entry", where + " is not the one that was signed");
  auto artifact = deserialize({content.data(), content.size()});
  if (!artifact)
    return problem(file, artifact.error().code.c_str(), where + ": " + artifact.error().text);
  if (artifact->target != entry.target || artifact->abi != entry.abi || artifact->name != entry.name)
    return problem(file, "pack-entry", where + " is another one than the header says");
  return artifact;
}

} // namespace nereid::artifact
