// Marks the declarations that libnereid exports to programs outside this tree.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(_WIN32)
#define NEREID_API
#else
#define NEREID_API __attribute__((visibility("default")))
#endif
