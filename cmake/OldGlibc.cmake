# With NEREID_GLIBC_STUBS, a folder that scripts/glibc_stubs.py made, linked files run on that older glibc: the linker
# sees only its symbols; missing functions come from cmake/glibc, and libstdc++ is linked in.
# SPDX-License-Identifier: MIT

if(NOT NEREID_GLIBC_STUBS)
  return()
endif()
# -B precedes the system's folders for start files, -L for libraries. libgcc_s stays shared: a process has one unwinder.
# The host's libgcc_s needs more symbols than the stubs have.
add_link_options(-B${NEREID_GLIBC_STUBS} -L${NEREID_GLIBC_STUBS} -static-libstdc++ -Wl,--exclude-libs,libstdc++.a
                 -Wl,--allow-shlib-undefined)
string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " -lpthread -ldl -lrt -lm") # one library since 2.34, and so not listed elsewhere
add_library(nereid-newer-glibc STATIC ${CMAKE_CURRENT_LIST_DIR}/glibc/Newer.c)
target_compile_options(nereid-newer-glibc PRIVATE -O2 -fPIC)
link_libraries(nereid-newer-glibc)
