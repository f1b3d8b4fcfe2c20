// Converts specialisations to arguments for the front end.
// SPDX-License-Identifier: MIT
#include "jit/Arguments.h"

using namespace nereid;
using namespace nereid::jit;

std::optional<sema::KernelArgument> jit::valueArgument(const ArgumentSpec &value) {
  const std::optional<sema::Type> type = sema::Type::fromSignature(typeText(value));
  if (!type)
    return std::nullopt;
  sema::KernelArgument argument;
  argument.type = *type;
  argument.divisibility = value.divisibility;
  argument.pointerRange = value.within2GiB ? 32 : 0;
  return argument;
}

sema::KernelArgument jit::constantArgument(sema::Value value) {
  sema::KernelArgument argument;
  argument.constant = std::move(value);
  return argument;
}

sema::KernelArgument jit::tupleArgument(std::vector<sema::KernelArgument> elements, sema::TupleValue kind) {
  sema::KernelArgument argument;
  if (!llvm::all_of(elements, [](const sema::KernelArgument &element) { return element.constant.has_value(); })) {
    argument.compound = std::move(kind);
    argument.elements = std::move(elements);
    return argument;
  }
  std::vector<sema::Value> constants;
  for (sema::KernelArgument &element : elements)
    constants.push_back(std::move(*element.constant));
  kind.elements = std::make_shared<const std::vector<sema::Value>>(std::move(constants));
  return constantArgument(std::move(kind));
}
