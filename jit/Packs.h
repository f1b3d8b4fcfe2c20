// The packs that serve kernels to this process, and the key by which a compilation finds its kernel in one.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Pack.h"
#include "jit/Session.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace nereid::jit {

/// The key of a kernel in packs. It is hashed when it is first asked for: most processes neither have nor write packs.
/// Any number of threads may use it.
class PackKey {
public:
  /// Nothing: the kernel cannot be in a pack.
  PackKey() = default;
  explicit PackKey(std::string inputs) : inputs(std::move(inputs)) {}

  const std::string &hex() const;

private:
  mutable std::once_flag hashed;
  mutable std::string inputs, key;
};

/// That of the job's kernel: unlike that of the cache it depends on neither the build, the tools nor the place of the
/// source, so that another machine finds it. Nothing where a user's text replaces a stage, or where the host has no key
/// of the source alone. Derived once for a job.
std::shared_ptr<const PackKey> packKeyOf(Job &job);

/// Any number of threads may use it.
class Packs {
public:
  static Packs &process();

  /// Looks in this pack, too, after those before it.
  void serve(std::shared_ptr<const artifact::Pack> pack);
  void withdraw(const artifact::Pack *pack);

  /// The job's kernel, or null. A CPU's may be one for a baseline (x86-64-v3) that the host fulfils.
  std::shared_ptr<const artifact::Artifact> find(Job &job);

  /// What was wrong with entries that were looked up, since the last call.
  std::vector<std::string> takeNotes();

private:
  using List = std::vector<std::shared_ptr<const artifact::Pack>>;
  std::shared_ptr<const artifact::Artifact> findKey(const List &packs, const std::string &key);

  std::atomic<bool> areServed{false}; ///< whether `served` has packs, for the common case that it has none
  std::mutex mutex;
  List served;
  std::vector<std::string> notes;
};

} // namespace nereid::jit
