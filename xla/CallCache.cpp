// Keeps loaded payloads by digest and device.
// SPDX-License-Identifier: MIT
#include "xla/CallCache.h"

#include <map>
#include <shared_mutex>
#include <tuple>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nereid::xla {

Expected<std::unique_ptr<LoadedPayload>> LoadedPayload::load(std::string_view bytes, runtime::Device &device) {
  auto payload = readPayload(bytes);
  if (!payload)
    return payload.error();
  std::unique_ptr<LoadedPayload> created(new LoadedPayload(bytes, device));
  const auto add = [&](const KernelCall &call) -> Expected<void> {
    auto loaded = LoadedCall::load(call, device);
    if (!loaded)
      return loaded.error();
    created->candidates.push_back(std::move(*loaded));
    return {};
  };
  if (const auto *call = std::get_if<KernelCall>(&payload->call)) {
    if (auto added = add(*call); !added)
      return added.error();
  } else {
    const auto &autotuned = std::get<AutotunedCall>(payload->call);
    created->aliases = autotuned.aliases;
    for (const AutotunedCall::Config &config : autotuned.configs)
      if (auto added = add(config.call); !added)
        return added.error();
  }
  if (created->candidates.size() == 1)
    created->chosen = 0;
  return created;
}

namespace {
/// Size and both halves of the hash of the payload, and the device.
using Key = std::tuple<size_t, uint64_t, uint64_t, const runtime::Device *>;

struct Cache {
  std::shared_mutex mutex;
  std::map<Key, std::unique_ptr<LoadedPayload>> entries;
};
} // namespace

static Cache &cache() {
  // Never destroyed: XLA's threads may still run when main() has returned.
  static auto *const instance = new Cache;
  return *instance;
}

/// The cache slot for a payload's address, which avoids hashing: a graph's payload is at the same address in every run,
/// so only the bytes have to be compared with those seen there before. A graph for several GPUs has one payload, which
/// each of them looks up. Payloads are never freed, so an entry never dangles.
static std::atomic<LoadedPayload *> &lastSeenAt(const char *address, const runtime::Device &device) {
  constexpr size_t kEntries = 512;
  static std::atomic<LoadedPayload *> entries[kEntries];
  // Fibonacci hashing: the upper bits depend on all bits of both addresses.
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
  const uint64_t mixed =
      (reinterpret_cast<uintptr_t>(address) ^ reinterpret_cast<uintptr_t>(&device) * kFactor) * kFactor;
  return entries[mixed >> 55];
}

static Expected<LoadedPayload *> loadOrFind(std::string_view bytes, runtime::Device &device) {
  const XXH128_hash_t digest = XXH3_128bits(bytes.data(), bytes.size());
  const Key key{bytes.size(), digest.high64, digest.low64, &device};
  {
    std::shared_lock<std::shared_mutex> lock(cache().mutex);
    if (const auto found = cache().entries.find(key); found != cache().entries.end())
      return found->second.get();
  }
  auto loaded = LoadedPayload::load(bytes, device);
  if (!loaded)
    return loaded.error();
  // If two threads load the same payload, the first one's entry is kept.
  std::unique_lock<std::shared_mutex> lock(cache().mutex);
  return cache().entries.emplace(key, std::move(*loaded)).first->second.get();
}

Expected<LoadedPayload *> loadedPayload(std::string_view bytes, runtime::Device &device) {
  std::atomic<LoadedPayload *> &entry = lastSeenAt(bytes.data(), device);
  LoadedPayload *const last = entry.load(std::memory_order_acquire);
  if (last && last->isOf(bytes, device))
    return last;
  auto payload = loadOrFind(bytes, device);
  if (payload)
    entry.store(*payload, std::memory_order_release);
  return payload;
}

} // namespace nereid::xla
