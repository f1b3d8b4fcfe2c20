// The ops that are roots of nests; each is defined in the file of its name.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/roots/RootTable.h"

using namespace nereid;

namespace nereid::cpu {
extern const RootTraits storeRoot, atomicRoot, extractRoot, reduceRoot, scanRoot, mapElementwiseRoot, scatterAddRoot,
    histogramRoot;
} // namespace nereid::cpu

cpu::RootTable cpu::rootTable() {
  static const RootTraits *const all[] = {&storeRoot, &atomicRoot,         &extractRoot,    &reduceRoot,
                                          &scanRoot,  &mapElementwiseRoot, &scatterAddRoot, &histogramRoot};
  return all;
}
