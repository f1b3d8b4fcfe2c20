# Links libnereid.so and the tools, and writes the version script of the exported symbols.
# SPDX-License-Identifier: MIT

set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

# A client is a program or module of this tree outside libnereid: clients are compiled separately from their linking, so
# that libnereid can export the LLVM symbols that they need.
function(nereid_client name)
  add_library(${name}-objects OBJECT ${ARGN})
  target_link_libraries(${name}-objects PRIVATE nereid-mlir)
  target_compile_options(${name}-objects PRIVATE -Xclang -fno-pch-timestamp)
  target_precompile_headers(${name}-objects REUSE_FROM nereid_pch_exceptions)
  add_dependencies(${name}-objects nereid-tablegen)
  nereid_unity(${name}-objects)
  set_property(GLOBAL APPEND PROPERTY NEREID_CLIENTS ${name}-objects)
endfunction()

# tools/<name>.cpp or the files of tools/<name>/ make the program <name>.
file(GLOB tool_files RELATIVE ${PROJECT_SOURCE_DIR}/tools CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.cpp
     ${PROJECT_SOURCE_DIR}/tools/*/*.cpp)
set(tools)
foreach(file IN LISTS tool_files)
  string(REGEX REPLACE "(/.*|\\.cpp)$" "" tool ${file})
  list(APPEND tools ${tool})
  list(APPEND tool_sources_${tool} ${PROJECT_SOURCE_DIR}/tools/${file})
endforeach()
list(REMOVE_DUPLICATES tools)
configure_file(${CMAKE_CURRENT_LIST_DIR}/version/Version.inc.in ${PROJECT_BINARY_DIR}/tools/nereid/Version.inc @ONLY)
find_path(NEREID_CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
foreach(tool IN LISTS tools)
  set(target ${tool})
  if(tool STREQUAL "nereid")
    set(target nereid-tool) # the library has the plain name
  endif()
  nereid_client(${target} ${tool_sources_${tool}})
  target_include_directories(${target}-objects SYSTEM PRIVATE ${NEREID_CLI11_INCLUDE})
  add_executable(${target} $<TARGET_OBJECTS:${target}-objects>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${tool})
  list(APPEND NEREID_LINKED ${target})
endforeach()
include(PythonModule)
include(XlaLibrary)

# LLVM, MLIR and lld are not exported: a process may hold other copies of them.
add_library(nereid SHARED)
set_target_properties(nereid PROPERTIES LINKER_LANGUAGE CXX)
nereid_link_objects(nereid)
target_include_directories(nereid INTERFACE ${PROJECT_SOURCE_DIR}/include)
set(exports ${CMAKE_CURRENT_LIST_DIR}/exports.map)
if(NEREID_STATIC_LLVM)
  include(ClientExports)
endif()
# What loading it costs: nobody replaces its functions, so that calls within it need no lookup by name; LLVM's static
# constructors lie side by side instead of all over the code.
target_link_options(nereid PRIVATE -Wl,--version-script=${exports} -Wl,-Bsymbolic-functions -Wl,-z,keep-text-section-prefix)
set_property(TARGET nereid APPEND PROPERTY LINK_DEPENDS ${exports})

foreach(target IN LISTS NEREID_LINKED)
  target_link_libraries(${target} PRIVATE nereid)
  if(NOT NEREID_STATIC_LLVM)
    target_link_libraries(${target} PRIVATE nereid-llvm-libraries)
  endif()
endforeach()
