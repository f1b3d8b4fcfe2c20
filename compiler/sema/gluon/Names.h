// Names of Gluon's modules.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nereid::sema {

inline constexpr llvm::StringLiteral gluonModule = "triton.experimental.gluon.language";
/// The modules of methods of layouts.
inline constexpr llvm::StringLiteral distributedModule = "triton.experimental.gluon.language.DistributedLayout";
inline constexpr llvm::StringLiteral sharedLayoutModule = "triton.experimental.gluon.language.SharedLayout";
/// That of methods of buffers in shared memory.
inline constexpr llvm::StringLiteral sharedMemoryModule = "triton.experimental.gluon.language.shared_memory_descriptor";

} // namespace nereid::sema
