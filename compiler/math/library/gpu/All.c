// The functions that every GPU's library has; each target adds those with a given rounding. Later files use earlier ones.
// SPDX-License-Identifier: MIT
#include "Elementary.c"
#include "Pair.h"
#include "Powers.c"
#include "Special.c"
#include "Bessel.c"
