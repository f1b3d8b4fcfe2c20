// Finds in a module's text what MLIR's own parser would not survive.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nereid::driver {

struct TextFault {
  uint32_t offset = 0;
  std::string message;
};

/// The first of these faults; nothing where the text may be parsed.
std::optional<TextFault> findFault(llvm::StringRef text);

} // namespace nereid::driver
