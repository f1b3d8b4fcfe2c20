// Formats the last launches as text, and interns kernel names.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/LaunchHistory.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <vector>

namespace nereid::runtime {

void LaunchHistory::forgetBefore(uint64_t at) {
  uint64_t known = first.load(std::memory_order_relaxed);
  while (known < at && !first.compare_exchange_weak(known, at, std::memory_order_relaxed)) {
  }
}

std::string LaunchHistory::text() const {
  const uint64_t end = next(), begin = std::min(first.load(std::memory_order_relaxed), end), total = end - begin;
  struct Run {
    const char *name;
    uint64_t times;
  };
  std::vector<Run> runs;
  for (uint64_t at = end - std::min(total, kCapacity); at < end; ++at) {
    const char *name = names[at % kCapacity].load(std::memory_order_relaxed);
    if (!runs.empty() && runs.back().name == name)
      ++runs.back().times;
    else if (name)
      runs.push_back({name, 1});
  }
  std::string text = total > kCapacity ? std::to_string(total - kCapacity) + " others, " : "";
  for (size_t i = 0; i < runs.size(); ++i) {
    text += std::string(i ? ", `" : "`") + runs[i].name + "`";
    if (runs[i].times > 1)
      text += " (" + std::to_string(runs[i].times) + " times)";
  }
  return text;
}

const char *internedName(const std::string &name) {
  static auto *const mutex = new std::mutex;
  static auto *const names = new std::set<std::string>;
  std::lock_guard<std::mutex> lock(*mutex);
  return names->insert(name).first->c_str();
}

} // namespace nereid::runtime
