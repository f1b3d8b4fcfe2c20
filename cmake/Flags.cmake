# Compiler and linker flags of the build types Dev and Release, warnings, sanitizers, ccache.
# SPDX-License-Identifier: MIT

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_FLAGS_DEV "-O1 -g1" CACHE STRING "flags of the Dev build type" FORCE)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG -ffunction-sections -fdata-sections" CACHE STRING "flags of the Release build type" FORCE)

find_program(NEREID_CCACHE ccache)
if(NEREID_CCACHE)
  # With these ccache identifies a precompiled header by content; without them every change of one misses.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${NEREID_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wimplicit-fallthrough -Werror=return-type -fno-semantic-interposition
                    -fcolor-diagnostics)
if(NEREID_WERROR)
  add_compile_options(-Werror)
endif()
# The build id identifies the compiler in every cache key.
add_link_options(-fuse-ld=lld -Wl,-z,defs -Wl,--as-needed -Wl,--build-id=sha1)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_link_options(-Wl,--gc-sections -s)
endif()
if(NEREID_SANITIZE_THREADS)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
  get_directory_property(link_options LINK_OPTIONS)
  list(REMOVE_ITEM link_options "-Wl,-z,defs")
  set_directory_properties(PROPERTIES LINK_OPTIONS "${link_options}")
endif()
if(NEREID_SANITIZE)
  # vptr needs the run-time type information of classes in LLVM's own libraries.
  add_compile_options(-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize=vptr,function -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined -fno-sanitize=vptr,function)
  # Counters of passes read a flag that MLIR's own library leaves uninitialised.
  file(GLOB nereid_pass_sources ${PROJECT_SOURCE_DIR}/compiler/passes/*/*.cpp)
  set_source_files_properties(${nereid_pass_sources} PROPERTIES COMPILE_OPTIONS -fno-sanitize=bool)
  get_directory_property(link_options LINK_OPTIONS)
  list(REMOVE_ITEM link_options "-Wl,-z,defs")
  set_directory_properties(PROPERTIES LINK_OPTIONS "${link_options}")
endif()
