// A GPU generation by its name.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/nvidia/arch/Archs.h"

#include "gtest/gtest.h"

namespace nereid::nvidia {

/// A failed test where there is no such generation.
inline Arch arch(const char *name = "90") {
  std::string reason;
  const std::optional<Arch> found = findArch(name, reason);
  EXPECT_TRUE(found) << name << ": " << reason;
  return found.value_or(Arch());
}

} // namespace nereid::nvidia
