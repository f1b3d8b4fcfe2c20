# Defines a library per folder: nereid_library(compiler/sema) makes the object library nereid_compiler_sema of its *.cpp
# files.
# SPDX-License-Identifier: MIT

# One precompiled header serves every folder that uses MLIR: with it a file takes a few seconds instead of half a
# minute.
add_library(nereid_pch OBJECT ${CMAKE_CURRENT_LIST_DIR}/Pch.cpp)
target_link_libraries(nereid_pch PRIVATE nereid-mlir)
target_compile_options(nereid_pch PRIVATE -fno-exceptions -Xclang -fno-pch-timestamp)
target_precompile_headers(nereid_pch PRIVATE ${CMAKE_CURRENT_LIST_DIR}/Pch.h)
set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)

# The same with exceptions, for code written against nanobind and CLI11.
add_library(nereid_pch_exceptions OBJECT ${CMAKE_CURRENT_LIST_DIR}/Pch.cpp)
target_link_libraries(nereid_pch_exceptions PRIVATE nereid-mlir)
target_compile_options(nereid_pch_exceptions PRIVATE -Xclang -fno-pch-timestamp)
target_precompile_headers(nereid_pch_exceptions PRIVATE ${CMAKE_CURRENT_LIST_DIR}/Pch.h)

# Sets flags and headers by the layer's line in layers.txt; `folder` selects the layer.
function(nereid_layer_flags target folder)
  nereid_foreign(${folder} foreign)
  # Programs are also compiled with -fPIC, not -fPIE: the precompiled header is.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  if(foreign STREQUAL "none")
    target_link_libraries(${target} PRIVATE nereid-plain)
    target_compile_options(${target} PRIVATE -fno-exceptions)
  elseif(foreign STREQUAL "llvm")
    target_link_libraries(${target} PRIVATE nereid-llvm)
    target_compile_options(${target} PRIVATE -fno-exceptions)
  else()
    target_link_libraries(${target} PRIVATE nereid-mlir)
    target_compile_options(${target} PRIVATE -fno-exceptions -Xclang -fno-pch-timestamp)
    target_precompile_headers(${target} REUSE_FROM nereid_pch)
    add_dependencies(${target} nereid-tablegen)
  endif()
endfunction()

# A folder that is missing or has no .cpp is skipped. Further arguments are generated sources.
function(nereid_library folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  list(APPEND sources ${ARGN})
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" name "nereid_${folder}")
  if(TARGET ${name})
    return()
  endif()
  add_library(${name} OBJECT ${sources})
  nereid_layer_flags(${name} ${folder})
  nereid_unity(${name})
  set_property(GLOBAL APPEND PROPERTY NEREID_LIBRARIES ${name})
endfunction()

# nereid_library for `top` and every folder below it.
function(nereid_tree top)
  file(GLOB_RECURSE sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${top}/*.cpp)
  set(folders)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND folders ${folder})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    nereid_library(${folder})
  endforeach()
endfunction()

# Links the objects of all libraries so far, for programs that use internals: unit tests and fuzzers.
function(nereid_link_objects target)
  get_property(libraries GLOBAL PROPERTY NEREID_LIBRARIES)
  foreach(library IN LISTS libraries)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${library}>)
  endforeach()
  target_link_libraries(${target} PRIVATE nereid-llvm-libraries nereid-plain-libraries)
endfunction()
