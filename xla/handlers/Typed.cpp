// Reads call frames of XLA's typed interface.
// SPDX-License-Identifier: MIT
#include "xla/handlers/Typed.h"

namespace nereid::xla::ffi {

// The newest version of the interface whose structures are known to match FfiAbi.h.
static constexpr int kNewestMinor = 5;

static Metadata *findMetadata(const Frame &frame) {
  for (Extension *extension = frame.extension; extension; extension = extension->next)
    if (extension->type == kMetadataExtension)
      return reinterpret_cast<MetadataExtension *>(extension)->metadata;
  return nullptr;
}

std::optional<Failure *> answerMetadata(Frame &frame, uint32_t traits) {
  Metadata *metadata = findMetadata(frame);
  if (!metadata)
    return std::nullopt;
  // 0.1 sends no table with the query.
  const int major = frame.api ? frame.api->version.major : 0, minor = frame.api ? frame.api->version.minor : 1;
  if (major != 0 || minor > kNewestMinor)
    return report(frame,
                  {"xla-version", "this XLA has version " + std::to_string(major) + "." + std::to_string(minor) +
                                      " of the foreign-function interface; versions up to 0." +
                                      std::to_string(kNewestMinor) + " are known here: a newer nereid is needed"});
  metadata->version.major = major; // an XLA rejects versions newer than its own
  metadata->version.minor = minor;
  metadata->traits = traits;
  return nullptr;
}

static Code codeOf(const Error &error) {
  if (error.code == "out-of-resources" || error.code == "launch-memory")
    return Code::ResourceExhausted;
  if (error.code.starts_with("xla-") || error.code.starts_with("payload-") || error.code.starts_with("artifact-"))
    return Code::InvalidArgument;
  if (error.code.starts_with("load-") || error.code.starts_with("cuda-"))
    return Code::FailedPrecondition;
  return Code::Internal;
}

Failure *report(const Frame &frame, const Error &error) {
  const std::string text = error.text + " [" + error.code + "]";
  MakeFailure arguments{sizeof arguments, nullptr, text.c_str(), codeOf(error)};
  return frame.api->makeFailure(&arguments);
}

static Expected<std::string_view> payloadOf(const Attributes &attributes) {
  constexpr std::string_view kName = "opaque";
  for (int64_t i = 0; i < attributes.count; ++i) {
    const Text &name = *attributes.names[i];
    if (attributes.types[i] != kTextAttribute || std::string_view(name.data, name.size) != kName)
      continue;
    const Text &text = *static_cast<const Text *>(attributes.values[i]);
    return std::string_view(text.data, text.size);
  }
  return Error{"xla-payload", "the custom call has no attribute `opaque` of bytes, which would be the payload"};
}

/// Writes one entry for each value.
static Expected<void> readBuffers(const Values &values, bool areResults, xla::Buffer *out) {
  for (int64_t i = 0; i < values.count; ++i) {
    if (values.types[i] != kBufferValue)
      return Error{"xla-buffers", std::string(areResults ? "result" : "operand") + " " + std::to_string(i) +
                                      " of the custom call is no buffer"};
    const auto &buffer = *static_cast<const Buffer *>(values.values[i]);
    out[i] = {.data = buffer.data,
              .isTyped = true,
              .type = buffer.type,
              .dims = {buffer.dims, static_cast<size_t>(buffer.rank)},
              .isResult = areResults};
  }
  return {};
}

Expected<void> runFrame(const Frame &frame, runtime::Device &device, void *stream) {
  constexpr size_t kUsual = 16;
  auto bytes = payloadOf(frame.attributes);
  if (!bytes)
    return bytes.error();
  auto payload = loadedPayload(*bytes, device);
  if (!payload)
    return payload.error();
  const auto operands = static_cast<size_t>(frame.operands.count);
  const size_t count = operands + static_cast<size_t>(frame.results.count);
  xla::Buffer few[kUsual];
  std::vector<xla::Buffer> many(count > kUsual ? count : 0);
  xla::Buffer *const buffers = many.empty() ? few : many.data();
  if (auto done = readBuffers(frame.operands, false, buffers); !done)
    return done;
  if (auto done = readBuffers(frame.results, true, buffers + operands); !done)
    return done;
  return (*payload)->run({.list = {buffers, count}}, stream);
}

} // namespace nereid::xla::ffi
