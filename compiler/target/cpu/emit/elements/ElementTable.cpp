// The ops that nests evaluate; each is defined in the file of its name.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/elements/ElementTable.h"

using namespace nereid;

namespace nereid::cpu {
extern const ElementTraits loadElement, gatherElement, joinElement, rangeElement, constantElement, movedElement,
    arithmeticElement;
} // namespace nereid::cpu

const cpu::ElementTraits &cpu::elementTraits(mlir::Operation *op) {
  static const ElementTraits *const all[] = {&loadElement,     &gatherElement, &joinElement,      &rangeElement,
                                             &constantElement, &movedElement,  &arithmeticElement};
  return **llvm::find_if(all, [&](const ElementTraits *traits) { return traits->matches(op); });
}
