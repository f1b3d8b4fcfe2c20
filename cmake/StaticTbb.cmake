# Links oneTBB into libnereid from the sources in NEREID_TBB_SOURCE: Debian's library needs the glibc that it was built
# with, and a process may hold another libtbb.so.12.
# SPDX-License-Identifier: MIT

file(GLOB tbb_sources ${NEREID_TBB_SOURCE}/src/tbb/*.cpp)
add_library(nereid-tbb OBJECT ${tbb_sources})
target_include_directories(nereid-tbb PRIVATE ${NEREID_TBB_SOURCE}/include ${NEREID_TBB_SOURCE}/src)
target_compile_definitions(nereid-tbb PRIVATE __TBB_BUILD __TBB_DYNAMIC_LOAD_ENABLED=0 __TBB_SOURCE_DIRECTLY_INCLUDED=1)
target_compile_options(nereid-tbb PRIVATE -mrtm -mwaitpkg -fvisibility=hidden -w)
