// Common arguments of the memory built-ins: pointers, masks, hints.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {

/// The cache modifiers that loads and stores take; nothing after an error.
std::optional<tt::CacheModifier> loadCacheModifier(const CallSite &site);
std::optional<tt::CacheModifier> storeCacheModifier(const CallSite &site);
std::optional<tt::EvictionPolicy> evictionPolicy(const CallSite &site);

/// Whether the value is `()`, `[]`, `""` or None.
bool isEmptySequence(const Value &value);

/// The argument `pointer`; poison after an error.
Value pointerArgument(const CallSite &site);

/// The mask, where one is given; nothing after an error.
std::optional<Value> maskArgument(const CallSite &site);

/// Reports a tile beside a scalar pointer; true where there is none.
bool checkScalars(const CallSite &site, std::initializer_list<std::pair<llvm::StringLiteral, Value>> operands);

/// Broadcasts those of `values` that are tensors; false after an error.
bool broadcastGiven(const CallSite &site, std::initializer_list<Value *> values);

/// The pointer with i1 replaced by bytes: a bool is a byte in memory.
Value asBytes(const CallSite &site, const Value &pointer);

} // namespace nereid::sema
