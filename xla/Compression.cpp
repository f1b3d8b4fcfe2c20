// Compresses and decompresses payloads with zlib.
// SPDX-License-Identifier: MIT
#include "xla/Payload.h"

#include <algorithm>
#include <zlib.h>

namespace nereid::xla {

std::string compress(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  // It fails only for lack of space, and compressBound is an upper bound.
  compress2(reinterpret_cast<Bytef *>(packed.data()), &size, reinterpret_cast<const Bytef *>(bytes.data()),
            bytes.size(), Z_DEFAULT_COMPRESSION);
  packed.resize(size);
  return packed;
}

static Error damaged(std::string why) {
  return {"payload-compression", "the payload is no zlib stream of a kernel call: " + std::move(why)};
}

namespace {
/// zlib's state, released by its destructor.
struct Inflater {
  Inflater() { isReady = inflateInit(&stream) == Z_OK; }
  ~Inflater() {
    if (isReady)
      inflateEnd(&stream);
  }
  Inflater(const Inflater &) = delete;
  Inflater &operator=(const Inflater &) = delete;

  z_stream stream{};
  bool isReady = false;
};
} // namespace

Expected<std::string> decompress(std::string_view bytes) {
  constexpr size_t kStep = size_t{64} << 10;
  Inflater inflater;
  if (!inflater.isReady || bytes.size() > kMaxMessageBytes)
    return damaged(std::to_string(bytes.size()) + " bytes; at most " + std::to_string(kMaxMessageBytes) + " are read");
  z_stream &stream = inflater.stream;
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string plain;
  int state = Z_OK;
  while (state == Z_OK) {
    const size_t had = plain.size();
    if (had >= kMaxMessageBytes)
      return damaged("it unpacks to more than " + std::to_string(kMaxMessageBytes) + " bytes");
    plain.resize(had + std::max(kStep, had));
    stream.next_out = reinterpret_cast<Bytef *>(plain.data() + had);
    stream.avail_out = static_cast<uInt>(plain.size() - had);
    state = inflate(&stream, Z_NO_FLUSH);
    plain.resize(plain.size() - stream.avail_out);
  }
  if (state != Z_STREAM_END)
    return damaged(stream.avail_in == 0 ? "it is cut short after " + std::to_string(bytes.size()) + " bytes"
                   : stream.msg         ? stream.msg
                                        : "zlib cannot decompress it");
  if (stream.avail_in != 0)
    return damaged(std::to_string(stream.avail_in) + " bytes follow its end");
  return plain;
}

Expected<Payload> readPayload(std::string_view bytes) {
  auto message = decompress(bytes);
  if (!message)
    return message.error();
  return readMessage(*message);
}

} // namespace nereid::xla
