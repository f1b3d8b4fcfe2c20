// Arguments that the built-ins for AMD GPUs share: buffers, their offsets, masks, values of masked elements.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/builtins/MemoryArguments.h"
#include "compiler/sema/gluon/Names.h"

namespace nereid::sema {

/// Whether the kernel is Gluon's and its target has buffers and matrix instructions of AMD's; reports an error else.
bool checkAmd(const CallSite &site);

/// A scalar pointer: the begin of a buffer. Poison after an error.
Value bufferArgument(const CallSite &site);
/// The tile `offsets` of 32-bit integers; poison after an error.
Value offsetsArgument(const CallSite &site);
/// `mask` as bools, None where it is not given; nothing after an error.
std::optional<Value> bufferMaskArgument(const CallSite &site);
/// `other` as an element of that type, None where it is not given; nothing after an error.
std::optional<Value> otherArgument(const CallSite &site, const Type &element);
/// The cache modifier that `parameter` names; `names` are those that the access has. Nothing after an error.
std::optional<tt::CacheModifier> cacheArgument(const CallSite &site, llvm::StringRef parameter, bool isLoad);

} // namespace nereid::sema
