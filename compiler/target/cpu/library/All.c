// The function library as one translation unit.
// SPDX-License-Identifier: MIT
#include "Elementary.c"
#include "KeptTiles.c"
#include "compiler/math/library/Integers.c"
#include "Rounding.c"
#include "Special.c"
