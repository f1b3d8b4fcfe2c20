// libFuzzer target: no bytes may crash the reader of packs.
// SPDX-License-Identifier: MIT
//
// Each input is tried as it is, and once more with a prologue and a checksum
// that fit it, since chance would never find those.
#include "artifact/PackFormat.h"

#include <cstdint>
#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

using namespace nereid::artifact;

static void readAll(const std::string &bytes) {
  const int fd = memfd_create("pack", MFD_CLOEXEC);
  if (fd < 0 || write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    abort();
  const auto pack = Pack::open("/proc/self/fd/" + std::to_string(fd));
  close(fd);
  if (!pack)
    return;
  for (size_t index = 0; index < (*pack)->size(); ++index) {
    const PackEntry entry = (*pack)->entry(index);
    const auto found = (*pack)->find(entry.key);
    if (!found || found->key.data() != entry.key.data())
      abort();
    (void)(*pack)->load(entry);
  }
  (void)(*pack)->lock();
  (void)(*pack)->producer();
}

static void putNumber(std::string &file, size_t at, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    file[at + i] = static_cast<char>(value >> (8 * i));
}

/// The input's first two bytes choose how much of the rest is the header, and how many rows that has.
static std::string framed(const std::string &input) {
  const size_t body = input.size() - 2;
  const uint32_t split = static_cast<unsigned char>(input[0]) + 256u * static_cast<unsigned char>(input[1]);
  const size_t headerBytes = split % (body + 1);
  std::string file(kPackPrologueBytes, '\0');
  file.replace(0, kPackMagic.size(), kPackMagic);
  file.append(input, 2);
  putNumber(file, kVersionAt, kPackVersion, 4);
  putNumber(file, kHeaderBytesAt, headerBytes, 4);
  putNumber(file, kFileBytesAt, file.size(), 8);
  if (headerBytes >= kPackRowsAt) {
    const size_t most = (headerBytes - kPackRowsAt) / kRowBytes, count = most - most / 2;
    putNumber(file, kPackPrologueBytes + kPackCountAt, count, 4);
    putNumber(file, kPackPrologueBytes + kPackTextBytesAt, headerBytes - kPackRowsAt - count * kRowBytes, 4);
  }
  return file.replace(kPackChecksumAt, kChecksumBytes, packChecksum(file));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string input(reinterpret_cast<const char *>(data), size);
  readAll(input);
  if (size >= 2)
    readAll(framed(input));
  return 0;
}
