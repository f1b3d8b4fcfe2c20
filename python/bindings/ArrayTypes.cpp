// The element types of arrays by name, as libraries spell them.
// SPDX-License-Identifier: MIT
#include "python/bindings/Arrays.h"

using namespace nereid;

std::optional<jit::ScalarType> nereid::python::scalarTypeNamed(std::string_view spelling) {
  if (const size_t dot = spelling.rfind('.'); dot != std::string_view::npos)
    spelling.remove_prefix(dot + 1);
  while (!spelling.empty() && (spelling.back() == '>' || spelling.back() == '\''))
    spelling.remove_suffix(1);
  const auto type = artifact::elementOfSignature(spelling);
  return type ? type : artifact::elementNamed(spelling);
}
