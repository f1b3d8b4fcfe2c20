// Tests packs: round trips, signatures, and errors for all other bytes.
// SPDX-License-Identifier: MIT
#include "artifact/PackFormat.h"
#include "test/unit/artifact/SampleArtifact.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

using namespace nereid::artifact;

namespace {
/// A file in memory that `Pack::open` can name.
class MemoryFile {
public:
  explicit MemoryFile(std::string_view bytes) : fd(memfd_create("pack", MFD_CLOEXEC)) {
    EXPECT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  ~MemoryFile() { close(fd); }
  MemoryFile(const MemoryFile &) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }
  void flip(std::string &bytes, size_t bit) const {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(pwrite(fd, &bytes[bit / 8], 1, static_cast<off_t>(bit / 8)), 1);
  }

private:
  int fd;
};
} // namespace

static const std::string kPackSeed(kSeedBytes, 'n');

static Artifact smallArtifact(const std::string &name) {
  Artifact artifact = sampleArtifact();
  artifact.name = name;
  artifact.stages.clear();
  return artifact;
}

static std::string samplePack(std::string_view seed = {}) {
  const Artifact first = smallArtifact("add"), second = smallArtifact("scale");
  const PackItem items[] = {{"bbbbbbbb", R"({"kernel": "k:scale"})", second}, {"aaaaaaaa", "", first}};
  const auto bytes = writePack(items, "0.1", "a lock\n", seed);
  EXPECT_TRUE(bytes);
  return bytes ? *bytes : "";
}

static Expected<std::shared_ptr<const Pack>> openedPack(const std::string &bytes, const std::string &publicKey = {}) {
  const MemoryFile file(bytes);
  return Pack::open(file.path(), publicKey);
}

static std::string openProblem(const std::string &bytes, const std::string &publicKey = {}) {
  const auto pack = openedPack(bytes, publicKey);
  return pack ? "none" : pack.error().code;
}

static void putPackNumber(std::string &file, size_t at, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    file[at + i] = static_cast<char>(value >> (8 * i));
}

static std::string resealedPack(std::string file) {
  return file.replace(kPackChecksumAt, kChecksumBytes, checksum(signedBytes(file)));
}

/// A file without entries that has this header and is otherwise right.
static std::string packOf(const std::string &header) {
  std::string file = samplePack().substr(0, kPackPrologueBytes) + header;
  putPackNumber(file, kHeaderBytesAt, header.size(), 4);
  putPackNumber(file, kFileBytesAt, file.size(), 8);
  return resealedPack(file);
}

static size_t rowAt(size_t index) { return kPackPrologueBytes + kPackRowsAt + index * kRowBytes; }

/// The sample with another number in the row of its second entry.
static std::string packWith(size_t at, uint64_t value, size_t bytes) {
  std::string file = samplePack();
  putPackNumber(file, rowAt(1) + at, value, bytes);
  return resealedPack(file);
}

static size_t textNameAt(RowText text) { return kRowTextsAt + static_cast<size_t>(text) * kTextNameBytes; }

//--- Round trips -------------------------------------------------------------------------------

TEST(Pack, round_trip_keeps_entries_and_kernels) {
  const auto pack = openedPack(samplePack());
  ASSERT_TRUE(pack) << pack.error().text;
  EXPECT_EQ((*pack)->producer(), "0.1");
  EXPECT_EQ((*pack)->lock(), "a lock\n");
  EXPECT_FALSE((*pack)->isSigned());
  ASSERT_EQ((*pack)->size(), 2u);
  const auto entry = (*pack)->find("bbbbbbbb");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->name, "scale");
  EXPECT_EQ(entry->record, R"({"kernel": "k:scale"})");
  EXPECT_EQ(entry->targetText(), "cpu:znver3");
  const auto kernel = (*pack)->load(*entry);
  ASSERT_TRUE(kernel) << kernel.error().text;
  EXPECT_EQ(*kernel, smallArtifact("scale"));
  EXPECT_FALSE((*pack)->find("cccccccc"));
}

TEST(Pack, entries_are_sorted_and_aligned) {
  const auto pack = openedPack(samplePack());
  ASSERT_TRUE(pack);
  EXPECT_EQ((*pack)->entry(0).key, "aaaaaaaa");
  for (size_t index = 0; index < (*pack)->size(); ++index)
    EXPECT_EQ((*pack)->entry(index).offset % kPackAlignment, 0u);
}

TEST(Pack, each_of_many_keys_is_found) {
  const Artifact artifact = smallArtifact("add");
  for (size_t count : {1u, 2u, 3u, 64u, 101u}) {
    std::vector<PackItem> items;
    for (size_t i = 0; i < count; ++i)
      items.push_back({std::to_string(10000000 + 37 * i), std::to_string(i), artifact});
    const auto pack = openedPack(*writePack(items, "", ""));
    ASSERT_TRUE(pack) << pack.error().text;
    for (const PackItem &item : items)
      EXPECT_EQ((*pack)->find(item.key).value().record, item.record);
    for (const char *absent : {"00000000", "10000001", "99999999", ""})
      EXPECT_FALSE((*pack)->find(absent)) << absent;
  }
}

TEST(Pack, equal_texts_are_stored_once) {
  const Artifact artifact = smallArtifact("add");
  const std::string record(1000, 'r');
  const PackItem one[] = {{"aaaaaaaa", record, artifact}},
                 two[] = {{"aaaaaaaa", record, artifact}, {"bbbbbbbb", record, artifact}};
  EXPECT_EQ(headerOf(*writePack(two, "", "")).size() - headerOf(*writePack(one, "", "")).size(), kRowBytes + 8);
}

TEST(Pack, the_first_of_equal_keys_stays) {
  const Artifact first = smallArtifact("first"), second = smallArtifact("second");
  const PackItem items[] = {{"aaaaaaaa", "", first}, {"aaaaaaaa", "", second}};
  const auto pack = openedPack(*writePack(items, "", ""));
  ASSERT_TRUE(pack);
  ASSERT_EQ((*pack)->size(), 1u);
  EXPECT_EQ((*pack)->entry(0).name, "first");
}

TEST(Pack, a_pack_without_kernels_is_one) { EXPECT_EQ(openProblem(*writePack({}, "", "")), "none"); }

TEST(Pack, it_outlives_the_name_of_its_file) {
  std::shared_ptr<const Pack> pack = *openedPack(samplePack()); // whose descriptor is closed
  EXPECT_TRUE(pack->load(pack->entry(1)));
}

//--- Damage ------------------------------------------------------------------------------------

TEST(Pack, each_length_that_is_too_short_is_an_error) {
  const std::string file = samplePack();
  for (size_t length = 0; length < file.size(); ++length)
    EXPECT_EQ(openProblem(file.substr(0, length)), "pack-truncated") << length;
}

TEST(Pack, a_longer_file_is_an_error) { EXPECT_EQ(openProblem(samplePack() + '\0'), "pack-truncated"); }

/// Whether some byte of an entry is there.
static bool isInEntry(const Pack &pack, size_t byte) {
  for (size_t index = 0; index < pack.size(); ++index)
    if (const PackEntry entry = pack.entry(index); byte >= entry.offset && byte < entry.offset + entry.bytes)
      return true;
  return false;
}

static void flipBits(const std::string &publicKey, std::string file, size_t step) {
  const MemoryFile openedPack(file);
  const auto whole = Pack::open(openedPack.path(), publicKey);
  ASSERT_TRUE(whole) << whole.error().text;
  const size_t headerEnd = kPackPrologueBytes + headerOf(file).size();
  for (size_t bit = 0; bit < 8 * file.size(); bit += step) {
    const bool isSignature = bit / 8 >= kPackSignatureAt && bit / 8 < kPackPrologueBytes;
    openedPack.flip(file, bit);
    const auto pack = Pack::open(openedPack.path(), publicKey);
    const bool isRefused = bit / 8 < headerEnd && !(isSignature && publicKey.empty());
    EXPECT_EQ(!pack, isRefused) << "bit " << bit;
    size_t damaged = 0;
    for (size_t index = 0; pack && index < (*pack)->size(); ++index)
      damaged += !(*pack)->load((*pack)->entry(index));
    EXPECT_EQ(damaged, pack && isInEntry(**pack, bit / 8) ? 1u : 0u) << "bit " << bit;
    openedPack.flip(file, bit);
  }
}

TEST(Pack, each_flipped_bit_is_found_or_in_no_kernel) { flipBits("", samplePack(), 1); }

TEST(Pack, flipped_bits_of_a_signed_pack_are_found) { flipBits(publicKeyOf(kPackSeed), samplePack(kPackSeed), 7); }

TEST(Pack, another_version_is_named) {
  std::string file = samplePack();
  putPackNumber(file, kVersionAt, 7, 4);
  const auto pack = openedPack(resealedPack(file));
  ASSERT_FALSE(pack);
  EXPECT_EQ(pack.error().code, "pack-version");
  EXPECT_NE(pack.error().text.find("format 7; this build reads format 2"), std::string::npos) << pack.error().text;
}

TEST(Pack, a_header_beyond_the_file_is_an_error) {
  std::string file = samplePack();
  putPackNumber(file, kHeaderBytesAt, ~0ull, 4);
  EXPECT_EQ(openProblem(file), "pack-header");
}

static void expectWrong(const std::string &file, const std::string &member) {
  const auto pack = openedPack(file);
  ASSERT_FALSE(pack) << member;
  EXPECT_EQ(pack.error().code, "pack-header");
  EXPECT_NE(pack.error().text.find("entry 2 of the pack has no right `" + member + "`"), std::string::npos)
      << pack.error().text;
}

TEST(Pack, a_text_outside_of_the_texts_is_named) {
  for (size_t text = 0; text < kRowTexts; ++text)
    for (const uint64_t name : {uint64_t{UINT32_MAX}, uint64_t{UINT32_MAX} << 32, ~uint64_t{0}})
      expectWrong(packWith(textNameAt(RowText(text)), name, kTextNameBytes), kRowTextNames[text]);
}

TEST(Pack, wrong_numbers_of_an_entry_are_named) {
  for (const uint64_t value : {~uint64_t{0}, uint64_t{1} << 40})
    expectWrong(packWith(kRowOffsetAt, value, 8), "offset");
  for (const uint64_t value : {~uint64_t{0}, uint64_t{1} << 40})
    expectWrong(packWith(kRowBytesAt, value, 8), "bytes");
  for (const uint64_t value : {2u, UINT32_MAX})
    expectWrong(packWith(kRowAbiAt, value, 4), "abi");
}

TEST(Pack, a_key_that_is_no_key_is_named) {
  expectWrong(packWith(textNameAt(RowText::Key) + 4, kLeastKeyDigits - 1, 4), "key");
  const std::string file = samplePack();
  const uint64_t name = littleEndianAt<uint64_t>(file, rowAt(1) + textNameAt(RowText::Record));
  expectWrong(packWith(textNameAt(RowText::Key), name, 8), "key"); // other digits
}

TEST(Pack, keys_that_are_not_sorted_are_an_error) {
  const std::string file = samplePack();
  const uint64_t first = littleEndianAt<uint64_t>(file, rowAt(0) + textNameAt(RowText::Key));
  expectWrong(packWith(textNameAt(RowText::Key), first, 8), "key");
}

TEST(Pack, headers_that_are_none_are_errors) {
  std::string countless(kPackRowsAt, '\0');
  for (const std::string &header : {std::string(), std::string("{"), std::string(kPackRowsAt - 1, '\0'),
                                    std::string(kPackRowsAt + 1, '\0'), std::string(1 << 20, '\xff')})
    EXPECT_EQ(openProblem(packOf(header)), "pack-header") << header.size();
  EXPECT_EQ(openProblem(packOf(countless)), "none");
  putPackNumber(countless, kPackLockAt, 1, 4);
  EXPECT_EQ(openProblem(packOf(countless)), "pack-header");
}

TEST(Pack, an_entry_that_is_no_kernel_is_an_error_where_it_is_loaded) {
  const auto pack = openedPack(packWith(kRowOffsetAt, 0, 8));
  ASSERT_TRUE(pack) << pack.error().text;
  const auto kernel = (*pack)->load((*pack)->entry(1));
  ASSERT_FALSE(kernel);
  EXPECT_NE(kernel.error().text.find("kernel `scale` (bbbbbbbb)"), std::string::npos) << kernel.error().text;
}

TEST(Pack, a_kernel_of_another_entry_is_an_error) {
  const std::string file = samplePack();
  const auto pack = openedPack(packWith(kRowOffsetAt, littleEndianAt<uint64_t>(file, rowAt(0) + kRowOffsetAt), 8));
  ASSERT_TRUE(pack) << pack.error().text;
  EXPECT_FALSE((*pack)->load((*pack)->entry(1)));
}

TEST(Pack, what_is_no_file_is_named) {
  EXPECT_EQ(Pack::open("/absent.pack").error().code, "pack-unreadable");
  EXPECT_EQ(Pack::open("/").error().code, "pack-unreadable");
  EXPECT_EQ(Pack::open("/dev/null").error().code, "pack-unreadable");
  EXPECT_EQ(openProblem(std::string(4096, 'x')), "pack-magic");
}

//--- Signatures --------------------------------------------------------------------------------

TEST(Pack, a_signature_is_one_of_its_key_alone) {
  const std::string file = samplePack(kPackSeed), key = publicKeyOf(kPackSeed);
  EXPECT_EQ(openProblem(file, key), "none");
  EXPECT_EQ(openProblem(file), "none");
  EXPECT_EQ(openProblem(file, publicKeyOf(std::string(kSeedBytes, 'o'))), "pack-signature");
  EXPECT_EQ(openProblem(samplePack(), key), "pack-signature");
  EXPECT_TRUE((*openedPack(file))->isSigned());
}

TEST(Pack, a_key_that_is_none_is_an_error) {
  for (const char *key : {"ab", "zz", "abc"})
    EXPECT_EQ(openProblem(samplePack(kPackSeed), key), "pack-key");
  EXPECT_EQ(openProblem(samplePack(kPackSeed), publicKeyOf(kPackSeed) + "00"), "pack-key");
  EXPECT_EQ(writePack({}, "", "", "short").error().code, "pack-key");
}

TEST(Pack, a_kernel_that_replaces_a_signed_one_is_found) {
  std::string file = samplePack(kPackSeed);
  const auto pack = openedPack(file);
  const PackEntry entry = (*pack)->entry(0);
  std::string other = serialize(smallArtifact("bad")); // as long as that of `add`
  ASSERT_EQ(other.size(), entry.bytes);
  file.replace(entry.offset, entry.bytes, other);
  const auto replaced = openedPack(file, publicKeyOf(kPackSeed));
  ASSERT_TRUE(replaced) << replaced.error().text;
  EXPECT_EQ((*replaced)->load((*replaced)->entry(0)).error().code, "pack-entry");
}

TEST(Pack, a_row_that_changes_after_the_signature_was_checked_is_not_used) {
  std::string file = samplePack(kPackSeed);
  const MemoryFile written(file);
  const auto pack = Pack::open(written.path(), publicKeyOf(kPackSeed));
  ASSERT_TRUE(pack) << pack.error().text;
  written.flip(file, 8 * (rowAt(0) + kRowDigestAt));
  EXPECT_TRUE((*pack)->load((*pack)->entry(0)));
}

/// That of RFC 8032, section 7.1, test 1.
TEST(Pack, the_public_key_of_a_seed_is_that_of_the_standard) {
  const unsigned char seed[] = {0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a,
                                0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32,
                                0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60};
  EXPECT_EQ(publicKeyOf({reinterpret_cast<const char *>(seed), sizeof seed}),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
}
