// Loads and stores adjacent elements by the processor's masked vector instructions.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/nest/NestContext.h"

namespace nereid::cpu {

/// The size of an element in memory.
uint64_t bytesOf(llvm::Type *memory);
/// Whether the processor has masked vectors of such elements.
bool hasMaskedVectors(const CpuFeatures &machine, llvm::Type *memory);

/// `other` where the mask is not set.
llvm::Value *emitMaskedLoad(NestContext &context, llvm::Value *address, llvm::Value *mask, llvm::Value *other);
void emitMaskedStore(NestContext &context, llvm::Value *address, llvm::Value *mask, llvm::Value *value);

} // namespace nereid::cpu
