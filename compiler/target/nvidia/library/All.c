// Combines the function library into one translation unit; later files use earlier ones.
// SPDX-License-Identifier: MIT
#include "compiler/math/library/Integers.c"

#include "Rounding.c"

#include "compiler/math/library/gpu/All.c"
