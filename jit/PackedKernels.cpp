// Implements the C++ API of packs: opens them, chooses among their variants.
// SPDX-License-Identifier: MIT
#include <nereid/Pack.h>

#include "artifact/Pack.h"
#include "runtime/cpu/HostProcessor.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>

using namespace nereid;

struct Pack::Impl {
  std::shared_ptr<const artifact::Pack> pack;
  std::vector<Entry> entries; ///< of the same order
};

Pack Pack::openFile(const std::string &path, const std::string &publicKey, std::string &problem) {
  auto opened = artifact::Pack::open(path, publicKey);
  if (!opened) {
    problem = opened.error().text + " [" + opened.error().code + "]";
    return Pack(nullptr);
  }
  auto impl = std::make_shared<Impl>(Impl{std::move(*opened), {}});
  for (size_t index = 0; index < impl->pack->size(); ++index) {
    const artifact::PackEntry entry = impl->pack->entry(index);
    impl->entries.push_back({.name = std::string(entry.name),
                             .signature = std::string(entry.signature),
                             .target = entry.targetText(),
                             .isPlain = entry.abi == artifact::Abi::Plain,
                             .bytes = entry.bytes});
  }
  return Pack(std::move(impl));
}

const std::vector<Pack::Entry> &Pack::entries() const { return impl->entries; }

//--- Choosing ----------------------------------------------------------------------------------

/// How many features of a processor the code uses; more is better where the host has them all.
static size_t featureCount(const artifact::PackEntry &entry) { return llvm::StringRef(entry.features).count('+'); }

/// A target without an architecture, such as "cpu", is this host.
static bool fits(const artifact::PackEntry &entry, const std::string &target) {
  if (!artifact::targetInfo(target).isHost)
    return entry.targetText() == target;
  return entry.backend == target && runtime::establishFeatures(entry.features);
}

/// "*fp32,i32,64 for cuda:90", of the variants, or of the first ones of many.
static std::string listed(llvm::ArrayRef<artifact::PackEntry> entries) {
  constexpr size_t most = 12;
  std::string text;
  for (const artifact::PackEntry &entry : entries.take_front(most))
    text += (text.empty() ? "" : "; ") + std::string(entry.signature) + " for " + entry.targetText();
  return entries.size() > most ? text + "; and " + std::to_string(entries.size() - most) + " more" : text;
}

Kernel Pack::findKernel(const Wanted &wanted, int device, std::string &problem) const {
  std::vector<artifact::PackEntry> named, fitting;
  for (size_t index = 0; index < impl->pack->size(); ++index)
    if (const artifact::PackEntry entry = impl->pack->entry(index); entry.name == wanted.name)
      named.push_back(entry);
  for (const artifact::PackEntry &entry : named)
    if ((wanted.signature.empty() || entry.signature == wanted.signature) && fits(entry, wanted.target))
      fitting.push_back(entry);
  const std::string what = impl->pack->path() + ": kernel `" + wanted.name + "`";
  if (fitting.empty()) {
    problem = named.empty() ? what + " is not in the pack"
                            : what + " has no variant " + wanted.signature + (wanted.signature.empty() ? "" : " ") +
                                  "for " + wanted.target + " that runs here; the pack has " + listed(named);
    return Kernel(nullptr);
  }
  for (const artifact::PackEntry &entry : fitting)
    if (entry.signature != fitting.front().signature) {
      problem = what + " has several variants, name one by its signature: " + listed(fitting);
      return Kernel(nullptr);
    }
  const auto best = std::max_element(fitting.begin(), fitting.end(),
                                     [](const auto &a, const auto &b) { return featureCount(a) < featureCount(b); });
  const auto kernel = impl->pack->load(*best);
  if (!kernel)
    problem = kernel.error().text;
  return kernel ? Kernel::load(*kernel, device, problem) : Kernel(nullptr);
}
