// Keeps the last arguments that are memory of another GPU.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/PeerArguments.h"

namespace nereid::runtime {

void PeerArguments::record(const PeerArgument &argument) {
  std::lock_guard<std::mutex> lock(mutex);
  std::erase_if(arguments, [&](const PeerArgument &each) {
    return each.kernel == argument.kernel && each.parameter == argument.parameter && each.owner == argument.owner;
  });
  if (arguments.size() == kCapacity)
    arguments.erase(arguments.begin());
  arguments.push_back(argument);
}

void PeerArguments::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  arguments.clear();
}

std::vector<PeerArgument> PeerArguments::recorded() const {
  std::lock_guard<std::mutex> lock(mutex);
  return arguments;
}

} // namespace nereid::runtime
