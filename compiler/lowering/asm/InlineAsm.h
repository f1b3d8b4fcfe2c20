// Emits a kernel's inline assembly: packs operands into words, calls it, unpacks the results.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace nereid::lowering {

using Elements = llvm::SmallVector<llvm::Value *, 4>;

/// Emits the op's assembly for `packed_element` elements of each operand and returns as many of each result. `typeOf`
/// gives the LLVM type of an element type. A `cookie` other than 0 is repeated in LLVM's messages about the assembly.
llvm::SmallVector<Elements, 2> emitInlineAsm(llvm::IRBuilderBase &ir, tt::ElementwiseInlineAsmOp op,
                                             llvm::ArrayRef<Elements> operands,
                                             llvm::function_ref<llvm::Type *(mlir::Type)> typeOf, uint64_t cookie);

} // namespace nereid::lowering
