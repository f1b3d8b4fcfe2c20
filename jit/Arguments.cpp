// Converts specialisations to arguments for the front end.
// SPDX-License-Identifier: MIT
#include "jit/Arguments.h"

using namespace nereid;
using namespace nereid::jit;

std::optional<sema::KernelArgument> jit::valueArgument(const ArgumentSpec &value) {
  const std::optional<sema::Type> type = sema::Type::fromSignature(typeText(value));
  if (!type)
    return std::nullopt;
  return sema::KernelArgument{
      .type = *type, .divisibility = value.divisibility, .pointerRange = value.within2GiB ? 32u : 0u};
}

sema::KernelArgument jit::tupleArgument(std::vector<sema::KernelArgument> elements, sema::TupleValue kind) {
  if (!llvm::all_of(elements, [](const sema::KernelArgument &element) { return element.constant.has_value(); }))
    return {.compound = std::move(kind), .elements = std::move(elements)};
  std::vector<sema::Value> constants;
  for (sema::KernelArgument &element : elements)
    constants.push_back(std::move(*element.constant));
  kind.elements = std::make_shared<const std::vector<sema::Value>>(std::move(constants));
  return {.constant = std::move(kind)};
}
