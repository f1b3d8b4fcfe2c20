// Opens a pack from untrusted bytes.
// SPDX-License-Identifier: MIT
#include "artifact/PackFormat.h"

#include <sodium.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid::artifact {

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
  fileBytes = static_cast<size_t>(status.st_size);
  void *address = fileBytes == 0 ? MAP_FAILED : mmap(nullptr, fileBytes, PROT_READ, MAP_PRIVATE, fd, 0);
  const int reason = errno;
  close(fd);
  if (fileBytes != 0 && address == MAP_FAILED)
    return problem(file, "pack-unreadable", std::strerror(reason));
  data = fileBytes == 0 ? nullptr : static_cast<const char *>(address);
  return {};
}

Pack::~Pack() {
  if (data)
    munmap(const_cast<char *>(data), fileBytes);
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
  if (packChecksum(file) != file.substr(kPackChecksumAt, kChecksumBytes))
    return problem(path, "pack-checksum", "the checksum of the pack's header does not match its bytes");
  return {};
}

//--- The header --------------------------------------------------------------------------------

static bool isKey(std::string_view text) {
  return text.size() >= kLeastKeyDigits && text.size() <= kMostKeyDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string_view Pack::row(size_t index) const { return header.substr(kPackRowsAt + index * kRowBytes, kRowBytes); }

std::optional<std::string_view> Pack::textAt(std::string_view names, size_t at) const {
  const std::string_view texts = header.substr(kPackRowsAt + count * kRowBytes);
  const auto offset = littleEndianAt<uint32_t>(names, at), size = littleEndianAt<uint32_t>(names, at + 4);
  if (offset > texts.size() || size > texts.size() - offset)
    return std::nullopt;
  return texts.substr(offset, size);
}

/// The name of the member that is wrong in an entry; empty where all are right.
std::string Pack::wrongMember(size_t index) const {
  const std::string_view fields = row(index);
  for (size_t text = 0; text < kRowTexts; ++text)
    if (!textAt(fields, kRowTextsAt + text * kTextNameBytes))
      return kRowTextNames[text];
  const PackEntry found = entry(index);
  if (!isKey(found.key) || (index > 0 && entry(index - 1).key >= found.key))
    return "key";
  if (littleEndianAt<uint32_t>(fields, kRowAbiAt) > static_cast<uint32_t>(Abi::Own))
    return "abi";
  if (found.offset > fileBytes)
    return "offset";
  return found.bytes > fileBytes - found.offset ? "bytes" : "";
}

Expected<void> Pack::checkHeader() {
  header = checksDigests ? std::string_view(signedCopy).substr(kPackChecksumAt) : headerOf(bytes());
  if (header.size() < kPackRowsAt)
    return problem(file, "pack-header", "the pack's header has no right `count`");
  const uint64_t entries = littleEndianAt<uint32_t>(header, kPackCountAt);
  if (kPackRowsAt + entries * kRowBytes + littleEndianAt<uint32_t>(header, kPackTextBytesAt) != header.size())
    return problem(file, "pack-header", "the pack's header has no right `count`");
  count = entries;
  for (const auto &[name, at] : {std::pair("producer", kPackProducerAt), std::pair("lock", kPackLockAt)})
    if (!textAt(header, at))
      return problem(file, "pack-header", std::string("the pack's header has no right `") + name + "`");
  for (size_t index = 0; index < count; ++index)
    if (const std::string wrong = wrongMember(index); !wrong.empty())
      return problem(file, "pack-header",
                     "entry " + std::to_string(index + 1) + " of the pack has no right `" + wrong + "`");
  return {};
}

// The texts were checked; a file that another process overwrites has empty ones, at worst.
std::string_view Pack::producer() const { return textAt(header, kPackProducerAt).value_or(""); }
std::string_view Pack::lock() const { return textAt(header, kPackLockAt).value_or(""); }

PackEntry Pack::entry(size_t index) const {
  const std::string_view fields = row(index);
  const auto text = [&](RowText which) {
    return textAt(fields, kRowTextsAt + static_cast<size_t>(which) * kTextNameBytes).value_or("");
  };
  return {.key = text(RowText::Key),
          .name = text(RowText::Name),
          .signature = text(RowText::Signature),
          .backend = text(RowText::Backend),
          .arch = text(RowText::Arch),
          .features = text(RowText::Features),
          .warpSize = littleEndianAt<uint32_t>(fields, kRowWarpSizeAt),
          .abi = littleEndianAt<uint32_t>(fields, kRowAbiAt) == static_cast<uint32_t>(Abi::Own) ? Abi::Own : Abi::Plain,
          .record = text(RowText::Record),
          .offset = littleEndianAt<uint64_t>(fields, kRowOffsetAt),
          .bytes = littleEndianAt<uint64_t>(fields, kRowBytesAt),
          .digest = fields.substr(kRowDigestAt, kDigestBytes)};
}

std::string PackEntry::targetText() const { return std::string(backend).append(":").append(arch); }

//--- Signatures --------------------------------------------------------------------------------

Expected<void> Pack::checkSignature(const std::string &publicKey) {
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
  signedCopy = signedBytes(bytes());
  const auto *signature = reinterpret_cast<const unsigned char *>(data + kPackSignatureAt);
  const auto *message = reinterpret_cast<const unsigned char *>(signedCopy.data());
  if (crypto_sign_verify_detached(signature, message, signedCopy.size(), key) != 0)
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
  if (auto ok = pack->checkHeader(); !ok)
    return ok.error();
  return std::shared_ptr<const Pack>(std::move(pack));
}

std::optional<PackEntry> Pack::find(std::string_view key) const {
  size_t first = 0, last = count;
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    const PackEntry found = entry(middle);
    if (found.key == key)
      return found;
    (found.key < key ? first : last) = found.key < key ? middle + 1 : middle;
  }
  return std::nullopt;
}

static bool isFor(const Target &target, const PackEntry &entry) {
  return target.backend == entry.backend && target.arch == entry.arch && target.features == entry.features &&
         target.warpSize == entry.warpSize;
}

Expected<Artifact> Pack::load(const PackEntry &entry) const {
  const auto where = [&] {
    return "kernel `" + std::string(entry.name) + "` (" + std::string(entry.key.substr(0, 12)) + ") of the pack";
  };
  std::string_view content = bytes().substr(std::min<uint64_t>(entry.offset, fileBytes), entry.bytes);
  std::string copy; // what is loaded is what was checked
  if (checksDigests) {
    content = copy = content;
    if (digestOf(content) != entry.digest)
      return problem(file, "pack-entry", where() + " is not the one that was signed");
  }
  auto artifact = deserialize({content.data(), content.size()});
  if (!artifact)
    return problem(file, artifact.error().code.c_str(), where() + ": " + artifact.error().text);
  if (!isFor(artifact->target, entry) || artifact->abi != entry.abi || artifact->name != entry.name)
    return problem(file, "pack-entry", where() + " is another one than the header says");
  return artifact;
}

} // namespace nereid::artifact
