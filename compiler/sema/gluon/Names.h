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

inline constexpr llvm::StringLiteral amdModule = "triton.experimental.gluon.language.amd";
inline constexpr llvm::StringLiteral cdna3Module = "triton.experimental.gluon.language.amd.cdna3";
inline constexpr llvm::StringLiteral cdna4Module = "triton.experimental.gluon.language.amd.cdna4";
inline constexpr llvm::StringLiteral cdna4CopyModule = "triton.experimental.gluon.language.amd.cdna4.async_copy";
inline constexpr llvm::StringLiteral rdna3Module = "triton.experimental.gluon.language.amd.rdna3";
inline constexpr llvm::StringLiteral rdna4Module = "triton.experimental.gluon.language.amd.rdna4";

} // namespace nereid::sema
