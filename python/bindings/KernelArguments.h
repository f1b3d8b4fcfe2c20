// What a signature, constants and attributes say of one parameter of a kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "jit/Signature.h"
#include "python/bindings/Request.h"

namespace nereid::python {

/// One parameter in all the forms that are needed.
struct ParsedArgument {
  sema::KernelArgument argument;
  jit::ArgumentSpec signature;
  std::string classes; ///< of objects and namedtuples in it: texts that differ where their methods do
};

/// Parameter number `index`, whose type is `type`: a text, or a tuple of types for one that holds several values.
ParsedArgument readArgument(PyHost &host, const KernelDescription &description, uint32_t index, nb::handle type,
                            const std::string &name);

} // namespace nereid::python
