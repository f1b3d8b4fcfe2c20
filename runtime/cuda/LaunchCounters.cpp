// Allocates counters and hands them out.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/LaunchCounters.h"

#include "runtime/gpu/CaptureScope.h"

#include <utility>

namespace nereid::runtime {

using namespace cuda;

/// Zeroed memory; 0 on failure. The stream of its own neither waits for a captured stream nor joins the capture.
Address LaunchCounters::allocate(uint32_t count, Result &result) const {
  const CaptureScope relaxed(calls.exchangeCaptureMode);
  const size_t bytes = size_t{count} * kPairBytes;
  Address address = 0;
  Stream stream = nullptr;
  result = calls.allocate(&address, bytes);
  if (result != Success)
    return 0;
  result = calls.cuStreamCreate(&stream, kNonBlockingStream);
  if (result == Success) {
    result = calls.fill(address, 0, bytes, stream);
    const Result waited = calls.cuStreamSynchronize(stream);
    result = result == Success ? waited : result;
    calls.cuStreamDestroy(stream);
  }
  if (result == Success)
    return address;
  calls.release(address);
  return 0;
}

Result LaunchCounters::prepare() {
  if (pairs.load(std::memory_order_acquire))
    return Success;
  std::lock_guard<std::mutex> lock(mutex);
  if (pairs.load(std::memory_order_relaxed))
    return Success;
  Result result = Success;
  pairs.store(allocate(kPairs, result), std::memory_order_release);
  return result;
}

Address LaunchCounters::next() {
  const uint32_t index = launches.fetch_add(1, std::memory_order_relaxed) % kPairs;
  return pairs.load(std::memory_order_relaxed) + Address{index} * kPairBytes;
}

Address LaunchCounters::nextInGraph(Result &result) {
  std::lock_guard<std::mutex> lock(mutex);
  result = Success;
  if (graphPairsLeft == 0) {
    const Address fresh = allocate(kGraphPairs, result);
    if (!fresh)
      return 0;
    graphPair = fresh;
    graphPairsLeft = kGraphPairs;
  }
  --graphPairsLeft;
  return std::exchange(graphPair, graphPair + kPairBytes);
}

} // namespace nereid::runtime
