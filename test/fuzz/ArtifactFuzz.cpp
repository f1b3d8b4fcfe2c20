// libFuzzer target: no bytes may crash the reader of artifacts.
// SPDX-License-Identifier: MIT
//
// Each input is tried as it is, and once more with a prologue and a checksum
// that fit it, since chance would never find those.
#include "artifact/Artifact.h"
#include "artifact/Format.h"

#include <cstdint>
#include <cstdlib>

using namespace nereid::artifact;

static void checkAccepted(const std::string &file) {
  const auto first = deserialize(file);
  if (!first)
    return;
  const auto second = deserialize(serialize(*first));
  if (!second || *second != *first)
    abort();
}

/// The input's first two bytes choose how much of the rest is the header.
static std::string framed(const std::string &input) {
  const size_t body = input.size() - 2;
  const uint32_t split = static_cast<unsigned char>(input[0]) + 256u * static_cast<unsigned char>(input[1]);
  const uint32_t headerBytes = body == 0 ? 0 : split % (body + 1);
  const uint64_t fileBytes = kPrologueBytes + body + kChecksumBytes;
  std::string file(kMagic);
  for (int i = 0; i < 4; ++i)
    file.push_back(static_cast<char>(kFormatVersion >> (8 * i)));
  for (int i = 0; i < 4; ++i)
    file.push_back(static_cast<char>(headerBytes >> (8 * i)));
  for (int i = 0; i < 8; ++i)
    file.push_back(static_cast<char>(fileBytes >> (8 * i)));
  file.append(input, 2);
  return file + checksum(file);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string input(reinterpret_cast<const char *>(data), size);
  checkAccepted(input);
  if (size >= 2)
    checkAccepted(framed(input));
  return 0;
}
