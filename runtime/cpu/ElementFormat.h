// The elements of values that kernels pass to the runtime.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/ElementType.h"

namespace nereid::runtime {

struct ElementFormat {
  /// "i32", "u8", "i1", "fp16", "bf16", "fp8e5", "ptr" ...
  explicit ElementFormat(std::string_view name);

  bool isPointer;
  const artifact::ElementInfo &info; ///< of a pointer that of its bits

  bool isSigned() const { return info.kind == artifact::ElementKind::Signed; }
};

/// The bits of an element of a value in memory.
uint64_t readBits(const artifact::ElementInfo &info, const void *data, int64_t index);
/// The number that the bits of a float stand for.
double floatOf(const artifact::ElementInfo &info, uint64_t bits);

} // namespace nereid::runtime
