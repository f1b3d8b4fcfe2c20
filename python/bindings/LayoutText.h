// Linear layouts as people read them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Layout.h"
#include "python/bindings/Python.h"

namespace nereid::python {

/// One line for each bit of each input, then the outputs.
std::string layoutText(const layout::LinearLayout &layout);
/// Of a layout from "offset" and "block": for each element of the tensor its offset, or for each offset its element.
std::string sharedView(const layout::LinearLayout &layout, bool byHardware);
/// Of a layout from "register", "lane", "warp" and "block": for each element the threads and registers that hold it, or
/// for each thread its elements, a row for each register.
std::string distributedView(const layout::LinearLayout &layout, bool byHardware);

} // namespace nereid::python
