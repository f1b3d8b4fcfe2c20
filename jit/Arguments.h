// Arguments of a kernel for the front end, from their specialisations.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/Sema.h"
#include "jit/Signature.h"

namespace nereid::jit {

/// A pointer, a scalar or a descriptor; nothing where kernels cannot take one of its type.
std::optional<sema::KernelArgument> valueArgument(const ArgumentSpec &value);

sema::KernelArgument constantArgument(sema::Value value);

/// A tuple, or an object of which `kind` has the class and the names of its fields. One of constants alone is a
/// constant.
sema::KernelArgument tupleArgument(std::vector<sema::KernelArgument> elements, sema::TupleValue kind = {});

} // namespace nereid::jit
