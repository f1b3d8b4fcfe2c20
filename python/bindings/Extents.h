// The memory behind the arguments of a launch, for kernels that check what they access.
// SPDX-License-Identifier: MIT
#pragma once

#include "jit/Packing.h"
#include "python/bindings/Python.h"
#include "runtime/MemoryExtent.h"

#include <span>
#include <vector>

namespace nereid::python {

/// What is behind the argument of a parameter: None has no memory, an address may have any.
runtime::MemoryExtent extentOf(nb::handle object, const jit::PackedParam &param, uint64_t address);

/// The argument block with the extent of each parameter's memory behind it.
std::vector<char> withExtents(std::span<const char> packed, const std::vector<runtime::MemoryExtent> &extents);

} // namespace nereid::python
