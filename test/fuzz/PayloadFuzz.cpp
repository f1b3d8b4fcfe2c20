// libFuzzer target: no bytes may crash the reader of XLA's payloads, or what checks a call before its code is loaded.
// SPDX-License-Identifier: MIT
//
// Each input is tried as a payload, as a message, and as a message that is packed as a payload.
#include "xla/LoadedCall.h"

#include <cstdint>
#include <cstdlib>

using namespace nereid::xla;

/// What was read is the same when it is written and read again.
static void checkRead(const nereid::xla::Expected<Payload> &payload) {
  if (!payload)
    return;
  const auto again = readMessage(writeMessage(*payload));
  if (!again || !(*again == *payload))
    abort();
  if (const auto *call = std::get_if<KernelCall>(&payload->call))
    (void)artifactOf(*call);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string input(reinterpret_cast<const char *>(data), size);
  checkRead(readPayload(input));
  checkRead(readMessage(input));
  const auto unpacked = decompress(compress(input));
  if (!unpacked || *unpacked != input)
    abort();
  return 0;
}
