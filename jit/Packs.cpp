// Looks compilations up in packs.
// SPDX-License-Identifier: MIT
#include "jit/Packs.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace nereid;
using namespace nereid::jit;

const std::string &PackKey::hex() const {
  std::call_once(hashed, [&] {
    if (!inputs.empty())
      key = driver::hashOf(std::exchange(inputs, {}));
  });
  return key;
}

std::shared_ptr<const PackKey> jit::packKeyOf(Job &job) {
  if (job.packKey)
    return job.packKey;
  if (job.request.replacement || (!job.ir && job.portableSourceKey.empty()))
    job.packKey = std::make_shared<const PackKey>();
  else
    job.packKey = std::make_shared<const PackKey>(
        job.ir ? driver::packInputs(job.kernel, job.ir->text, job.ir->kind)
               : driver::packInputs(job.kernel, job.portableSourceKey, job.request.signature));
  return job.packKey;
}

//--- CPUs --------------------------------------------------------------------------------------

/// Levels of x86-64 processors, the best first.
static constexpr const char *kBaselines[] = {"x86-64-v4", "x86-64-v3", "x86-64-v2", "x86-64"};

static llvm::StringSet<> featuresOf(const support::TargetSpec &target) {
  llvm::StringSet<> names;
  for (llvm::StringRef feature : llvm::split(target.features, ','))
    if (feature.consume_front("+"))
      names.insert(feature);
  return names;
}

/// The baselines that this host fulfils.
static const std::vector<support::TargetSpec> &baselinesOf(const support::TargetSpec &host) {
  static const std::vector<support::TargetSpec> fulfilled = [&] {
    std::vector<support::TargetSpec> targets;
    llvm::StringSet<> has = featuresOf(host);
    // Every 64-bit processor has these; LLVM does not list them for a host.
    has.insert("x87");
    has.insert("nopl");
    std::string reason;
    for (const char *name : kBaselines) {
      const auto baseline = driver::resolveTarget(host.backend, name, reason);
      if (baseline &&
          llvm::all_of(featuresOf(*baseline), [&](const auto &entry) { return has.contains(entry.getKey()); }))
        targets.push_back(*baseline);
    }
    return targets;
  }();
  return fulfilled;
}

/// Whether the job is for the processor that this process runs on, not for one that the user named.
static bool isForHost(const support::TargetSpec &target) {
  return artifact::targetInfo(target.backend).isHost && target.lastLevelCacheBytes != 0;
}

//--- The process -------------------------------------------------------------------------------

Packs &Packs::process() {
  static auto *packs = new Packs; // threads may still use it while the process ends
  return *packs;
}

void Packs::serve(std::shared_ptr<const artifact::Pack> pack) {
  const std::lock_guard lock(mutex);
  if (!llvm::is_contained(served, pack))
    served.push_back(std::move(pack));
  areServed = true;
}

void Packs::withdraw(const artifact::Pack *pack) {
  const std::lock_guard lock(mutex);
  llvm::erase_if(served, [&](const auto &known) { return known.get() == pack; });
  areServed = !served.empty();
}

std::shared_ptr<const artifact::Artifact> Packs::findKey(const List &packs, const std::string &key) {
  for (const auto &pack : packs) {
    const auto entry = pack->find(key);
    if (!entry)
      continue;
    if (auto artifact = pack->load(*entry))
      return std::make_shared<const artifact::Artifact>(std::move(*artifact));
    else {
      const std::lock_guard lock(mutex);
      notes.push_back(artifact.error().text + " [" + artifact.error().code + "]");
    }
  }
  return nullptr;
}

std::shared_ptr<const artifact::Artifact> Packs::find(Job &job) {
  if (!areServed)
    return nullptr;
  List packs;
  {
    const std::lock_guard lock(mutex);
    packs = served;
  }
  const std::string key = packKeyOf(job)->hex();
  if (key.empty())
    return nullptr;
  auto found = findKey(packs, key);
  if (found || !isForHost(job.kernel.target))
    return found;
  Job other = job;
  for (const support::TargetSpec &baseline : baselinesOf(job.kernel.target)) {
    other.kernel.target = baseline;
    other.packKey = nullptr;
    if ((found = findKey(packs, packKeyOf(other)->hex())))
      break;
  }
  return found;
}

std::vector<std::string> Packs::takeNotes() {
  const std::lock_guard lock(mutex);
  return std::exchange(notes, {});
}
