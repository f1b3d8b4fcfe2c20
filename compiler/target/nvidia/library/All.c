// Combines the function library into one translation unit; later files use earlier ones.
// SPDX-License-Identifier: MIT
#include "compiler/math/library/Integers.c"

#include "Rounding.c"

#include "Elementary.c"
#include "Pair.h"
#include "Powers.c"
#include "Special.c"
#include "Bessel.c"
