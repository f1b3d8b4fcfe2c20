// Implements what GPU vendors share of emitting tiles as LLVM IR.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/TargetEmitter.h"

using namespace nereid::lowering;

TargetEmitter::~TargetEmitter() = default;
