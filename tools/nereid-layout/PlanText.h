// Prints conversion and reduction plans.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Conversion.h"
#include "compiler/layout/Reduction.h"

#include "llvm/Support/raw_ostream.h"

namespace nereid::tools {

void printConversion(const layout::LinearLayout &src, const layout::LinearLayout &dst, unsigned elemBits,
                     const layout::SwizzleOptions &options, llvm::raw_ostream &os);
void printReduction(const layout::LinearLayout &src, unsigned axis, unsigned elemBits, llvm::raw_ostream &os);

} // namespace nereid::tools
