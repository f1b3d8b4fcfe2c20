// What this process may still map: a limit of address space, and how much of it is free.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace nereid::process {

/// Whether the address space of this process is limited below what the machine has (RLIMIT_AS). Where it is not, an
/// allocation fails only for an absurd size.
bool isAddressSpaceLimited();

/// Whether that much could be mapped now; always true where there is no limit.
bool hasAddressSpace(size_t bytes);

/// Address space that is taken but never touched, and can be given back at any time.
class ReservedSpace {
public:
  explicit ReservedSpace(size_t bytes);
  ~ReservedSpace() { giveBack(); }
  ReservedSpace(const ReservedSpace &) = delete;
  ReservedSpace &operator=(const ReservedSpace &) = delete;

  bool isTaken() const { return begin != nullptr; }
  void giveBack();

private:
  void *begin = nullptr;
  size_t bytes = 0;
};

} // namespace nereid::process
