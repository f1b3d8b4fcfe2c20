// One parameter of a kernel, from the signature, the constants and the attributes.
// SPDX-License-Identifier: MIT
#pragma once

#include "jit/Signature.h"
#include "python/bindings/Request.h"

namespace nereid::python {

struct ParsedArgument {
  sema::KernelArgument argument;
  jit::ArgumentSpec spec;
  std::string classes = {}; ///< of objects and namedtuples in it: texts that differ where their methods do
};

/// Reads parameter number `index` of type `type`: a text, or a tuple of types for one with several values.
ParsedArgument readArgument(PyHost &host, const KernelDescription &description, uint32_t index, nb::handle type,
                            const std::string &name);

} // namespace nereid::python
