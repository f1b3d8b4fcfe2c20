// The checksum of artifact files, for tests that write them by hand.
// SPDX-License-Identifier: MIT
#define XXH_INLINE_ALL
#include "test/stub/Stub.h"

#include <xxhash.h>

void stub_checksum(const char *bytes, uint64_t count, unsigned char *sixteen) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, count));
  __builtin_memcpy(sixteen, canonical.digest, sizeof canonical.digest);
}
