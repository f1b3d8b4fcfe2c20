// Maps a launch key to its kernel; reads take no lock.
// SPDX-License-Identifier: MIT
//
// Open addressing over pointers to immutable entries with stable addresses. A reader loads the table and a slot, both
// atomic; a writer holds the mutex, fills an empty slot in place, and publishes a larger copy when half of the slots
// are used. Outgrown tables are kept until the end, since a reader may still use one; together they are smaller than
// the last.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid::jit {

/// The hash that the table expects of a key.
uint64_t hashKey(std::string_view key);

template <typename Value> class LaunchTable {
public:
  LaunchTable() { publish(kFirstSlots); }
  LaunchTable(const LaunchTable &) = delete;
  LaunchTable &operator=(const LaunchTable &) = delete;

  /// The value stored under the key, or null. It stays valid, at the same address, for the lifetime of the table.
  Value *find(std::string_view key) const { return find(hashKey(key), key); }
  Value *find(uint64_t hash, std::string_view key) const {
    const Table &table = *current.load(std::memory_order_acquire);
    Entry *entry = *locate(table, hash, key);
    return entry ? &entry->value : nullptr;
  }

  /// Stores the value unless the key has one already; returns the stored value, and whether it is the given one.
  std::pair<Value *, bool> insert(std::string_view key, Value value);

  /// Removes all keys. Values returned earlier stay valid.
  void clear();

  /// Number of keys; exact while no insertion is in progress.
  size_t size() const { return count.load(std::memory_order_relaxed); }

  /// Calls `visit(key, value)` for each entry of a snapshot.
  template <typename Visit> void forEach(Visit visit) const;

private:
  struct Entry {
    uint64_t hash;
    std::string key;
    Value value;
  };
  using Slot = std::atomic<Entry *>;
  struct Table {
    explicit Table(size_t slots) : mask(slots - 1), slots(std::make_unique<Slot[]>(slots)) {}
    size_t mask;
    std::unique_ptr<Slot[]> slots;
  };
  static constexpr size_t kFirstSlots = 16;

  /// The slot of that key's entry, or an empty slot.
  struct Found {
    Slot *slot;
    Entry *entry;
    Entry *operator*() const { return entry; }
  };
  static Found locate(const Table &table, uint64_t hash, std::string_view key);
  Table &publish(size_t slots);
  void grow(const Table &old);

  std::atomic<const Table *> current{nullptr};
  std::atomic<size_t> count{0};
  mutable std::mutex writing;
  std::vector<std::unique_ptr<Table>> tables;
  std::vector<std::unique_ptr<Entry>> entries;
};

template <typename Value>
typename LaunchTable<Value>::Found LaunchTable<Value>::locate(const Table &table, uint64_t hash, std::string_view key) {
  // At least half of the slots are empty, so the loop terminates.
  for (size_t at = hash & table.mask;; at = (at + 1) & table.mask) {
    Entry *entry = table.slots[at].load(std::memory_order_acquire);
    if (!entry || (entry->hash == hash && entry->key == key))
      return {&table.slots[at], entry};
  }
}

template <typename Value> std::pair<Value *, bool> LaunchTable<Value>::insert(std::string_view key, Value value) {
  const uint64_t hash = hashKey(key);
  std::lock_guard<std::mutex> lock(writing);
  const Table *table = current.load(std::memory_order_relaxed);
  if (Entry *entry = *locate(*table, hash, key))
    return {&entry->value, false};
  const size_t taken = count.load(std::memory_order_relaxed);
  if ((taken + 1) * 2 > table->mask + 1) {
    grow(*table);
    table = current.load(std::memory_order_relaxed);
  }
  entries.push_back(std::make_unique<Entry>(Entry{hash, std::string(key), std::move(value)}));
  Entry *entry = entries.back().get();
  locate(*table, hash, key).slot->store(entry, std::memory_order_release);
  count.store(taken + 1, std::memory_order_relaxed);
  return {&entry->value, true};
}

template <typename Value> void LaunchTable<Value>::clear() {
  std::lock_guard<std::mutex> lock(writing);
  count.store(0, std::memory_order_relaxed);
  publish(kFirstSlots);
}

template <typename Value> template <typename Visit> void LaunchTable<Value>::forEach(Visit visit) const {
  const Table &table = *current.load(std::memory_order_acquire);
  for (size_t at = 0; at <= table.mask; ++at)
    if (Entry *entry = table.slots[at].load(std::memory_order_acquire))
      visit(std::string_view(entry->key), entry->value);
}

template <typename Value> typename LaunchTable<Value>::Table &LaunchTable<Value>::publish(size_t slots) {
  tables.push_back(std::make_unique<Table>(slots));
  current.store(tables.back().get(), std::memory_order_release);
  return *tables.back();
}

template <typename Value> void LaunchTable<Value>::grow(const Table &old) {
  auto larger = std::make_unique<Table>((old.mask + 1) * 2);
  for (size_t at = 0; at <= old.mask; ++at)
    if (Entry *entry = old.slots[at].load(std::memory_order_relaxed))
      locate(*larger, entry->hash, entry->key).slot->store(entry, std::memory_order_relaxed);
  tables.push_back(std::move(larger));
  current.store(tables.back().get(), std::memory_order_release);
}

} // namespace nereid::jit
