// The memory extents of a launch's arguments, for kernels that check their accesses.
// SPDX-License-Identifier: MIT
#pragma once

#include "jit/Packing.h"
#include "python/bindings/Python.h"

namespace nereid::python {

/// The memory of a parameter's argument: None has no memory, an address may have any.
runtime::MemoryExtent extentOf(nb::handle object, const jit::PackedParam &param, uint64_t address);

} // namespace nereid::python
