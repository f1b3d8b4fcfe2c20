// Implements what GPU vendors share of emitting tiles as LLVM IR.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/TargetEmitter.h"

using namespace nereid::lowering;

TargetEmitter::~TargetEmitter() = default;
