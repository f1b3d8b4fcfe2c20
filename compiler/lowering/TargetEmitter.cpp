// What differs between GPU vendors when tiles become LLVM IR.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TargetEmitter.h"

using namespace nereid::lowering;

TargetEmitter::~TargetEmitter() = default;
