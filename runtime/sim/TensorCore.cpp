// Not supported yet.
// SPDX-License-Identifier: MIT
#include "runtime/sim/Decode.h"
using namespace nereid::sim;
std::span<const OpcodeEntry> nereid::sim::matrixOpcodes() { return {}; }
