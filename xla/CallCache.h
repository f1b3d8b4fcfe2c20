// Loads the kernels of a payload onto a device, once per payload and device.
// SPDX-License-Identifier: MIT
#pragma once

#include "xla/LoadedCall.h"

#include <atomic>
#include <mutex>

namespace nereid::xla {

/// A loaded payload on one device: one call, or several candidates of which the fastest is to be found.
class LoadedPayload {
public:
  static Expected<std::unique_ptr<LoadedPayload>> load(std::string_view bytes, runtime::Device &device);

  /// Whether this is that payload on that device.
  bool isOf(std::string_view other, const runtime::Device &where) const { return &where == &device && other == bytes; }

  /// The first run of several candidates times them; operands that share memory with results are restored.
  Expected<void> run(const Buffers &buffers, void *stream);

private:
  static constexpr int kUndecided = -1;

  LoadedPayload(std::string_view bytes, runtime::Device &device) : bytes(bytes), device(device) {}
  Expected<void> tune(const Buffers &buffers, void *stream);

  const std::string bytes;
  runtime::Device &device;
  std::vector<std::unique_ptr<LoadedCall>> candidates;
  std::vector<AutotunedCall::Alias> aliases;
  std::atomic<int> chosen{kUndecided};
  std::mutex tuning;
};

/// The payload on that device; never freed and cached by the digest of its bytes, since a graph runs many times.
Expected<LoadedPayload *> loadedPayload(std::string_view bytes, runtime::Device &device);

} // namespace nereid::xla
