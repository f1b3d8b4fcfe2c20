// Text forms of linear layouts.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Layout.h"
#include "python/bindings/Python.h"

namespace nereid::python {

/// One line for each bit of each input, then the outputs.
std::string layoutText(const layout::LinearLayout &layout);
/// For a layout from "offset" and "block": each tensor element's offset, or each offset's element.
std::string sharedView(const layout::LinearLayout &layout, bool byHardware);
/// For a layout from "register", "lane", "warp" and "block": the threads and registers that hold each tensor element,
/// or each thread's elements, a row per register.
std::string distributedView(const layout::LinearLayout &layout, bool byHardware);

} // namespace nereid::python
