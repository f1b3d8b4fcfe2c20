// Holds the generated definitions of interfaces for asynchronous ops.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/AsyncInterfaces.h"

#include "compiler/dialect/ttg/AsyncInterfaces.cpp.inc"
