// Maps the memory orders and operations of atomic accesses to LLVM's.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/IR/Instructions.h"

namespace nereid::lowering {

llvm::AtomicOrdering orderingOf(tt::MemSemantic semantic);
llvm::AtomicRMWInst::BinOp atomicOperationOf(tt::RMWOp op);

} // namespace nereid::lowering
