// Finds the fastest of a payload's kernels by running each on the call's own buffers.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/CudaDevice.h"
#include "xla/CallCache.h"

#include <chrono>
#include <cstring>

namespace nereid::xla {

static constexpr int kWarmups = 1, kRuns = 5;

namespace {
/// The contents of an operand that the call may overwrite, kept until all candidates have run.
class SavedOperand {
public:
  SavedOperand(const AutotunedCall::Alias &alias, const Buffer &buffer) : buffer(buffer), bytes(alias.bytes) {}

  Expected<void> save(runtime::Device &device) {
    if (auto *gpu = dynamic_cast<runtime::CudaDevice *>(&device))
      return move(*gpu, /*out=*/true);
    contents.assign(static_cast<const char *>(buffer.data), static_cast<const char *>(buffer.data) + bytes);
    return {};
  }
  Expected<void> restore(runtime::Device &device) {
    if (auto *gpu = dynamic_cast<runtime::CudaDevice *>(&device))
      return move(*gpu, /*out=*/false);
    std::memcpy(buffer.data, contents.data(), bytes);
    return {};
  }

private:
  Expected<void> move(runtime::CudaDevice &gpu, bool out) {
    contents.resize(bytes);
    const auto &calls = gpu.driver().calls();
    auto context = gpu.context();
    if (!context)
      return context.error();
    const runtime::CurrentScope scope(gpu, *context);
    const auto address = reinterpret_cast<uint64_t>(buffer.data);
    const auto result =
        out ? calls.cuMemcpyDtoH(contents.data(), address, bytes) : calls.cuMemcpyHtoD(address, contents.data(), bytes);
    if (result != runtime::cuda::Success)
      return gpu.failure("xla-tuning", "an operand cannot be kept while kernels are timed",
                         {out ? "cuMemcpyDtoH" : "cuMemcpyHtoD", result});
    return {};
  }

  Buffer buffer;
  uint64_t bytes;
  std::vector<char> contents;
};
} // namespace

/// No-op on a CPU, whose launches are finished when they return.
static Expected<void> synchronize(runtime::Device &device) {
  auto *gpu = dynamic_cast<runtime::CudaDevice *>(&device);
  return gpu ? gpu->synchronize() : Expected<void>();
}

/// Seconds for `kRuns` launches.
static Expected<double> timeOf(const LoadedCall &call, const Buffers &buffers, void *stream, runtime::Device &device) {
  std::chrono::steady_clock::time_point began;
  for (int run = -kWarmups; run < kRuns; ++run) {
    if (run == 0) {
      if (auto done = synchronize(device); !done)
        return done.error();
      began = std::chrono::steady_clock::now();
    }
    if (auto done = call.run(buffers, stream); !done)
      return done.error();
  }
  if (auto done = synchronize(device); !done)
    return done.error();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

static Expected<std::vector<SavedOperand>> save(const std::vector<AutotunedCall::Alias> &aliases,
                                                const Buffers &buffers, runtime::Device &device) {
  std::vector<SavedOperand> saved;
  for (const AutotunedCall::Alias &alias : aliases) {
    if (!buffers.untyped && alias.operand >= buffers.list.size())
      return Error{"payload-value", "the payload names operand " + std::to_string(alias.operand) + " as aliased; the " +
                                        "call has " + std::to_string(buffers.list.size()) + " buffers"};
    const Buffer operand = buffers.at(alias.operand);
    if (const auto bytes = bytesOf(operand); operand.isTyped && alias.bytes > bytes.value_or(0))
      return Error{"payload-value", "the payload says that an operand has " + std::to_string(alias.bytes) +
                                        " bytes; it has " + std::to_string(bytes.value_or(0))};
    if (auto done = saved.emplace_back(alias, operand).save(device); !done)
      return done.error();
  }
  return saved;
}

Expected<void> LoadedPayload::tune(const Buffers &buffers, void *stream) {
  std::lock_guard<std::mutex> lock(tuning);
  if (chosen != kUndecided)
    return {};
  if (auto done = synchronize(device); !done)
    return done;
  auto saved = save(aliases, buffers, device);
  if (!saved)
    return saved.error();
  int best = 0;
  double bestSeconds = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    auto seconds = timeOf(*candidates[i], buffers, stream, device);
    if (!seconds)
      return seconds.error();
    if (i == 0 || *seconds < bestSeconds) {
      best = static_cast<int>(i);
      bestSeconds = *seconds;
    }
    for (SavedOperand &operand : *saved)
      if (auto restored = operand.restore(device); !restored)
        return restored;
  }
  chosen = best;
  return {};
}

Expected<void> LoadedPayload::run(const Buffers &buffers, void *stream) {
  if (chosen.load(std::memory_order_acquire) == kUndecided)
    if (auto tuned = tune(buffers, stream); !tuned)
      return tuned;
  return candidates[static_cast<size_t>(chosen.load(std::memory_order_relaxed))]->run(buffers, stream);
}

} // namespace nereid::xla
