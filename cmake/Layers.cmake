# Reads cmake/layers.txt: which third-party headers the layer of a folder may use.
# SPDX-License-Identifier: MIT

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/layers.txt)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/layers.txt lines REGEX "^[^#].*\\|")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([^ |]+) *\\| *([a-z]+) *\\|" _ "${line}")
  set(NEREID_FOREIGN_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()

# Sets `out` to none, llvm or mlir for the layer that `folder` belongs to.
function(nereid_foreign folder out)
  set(layer ${folder})
  while(layer AND NOT DEFINED NEREID_FOREIGN_${layer})
    cmake_path(GET layer PARENT_PATH layer)
  endwhile()
  if(NOT layer)
    message(FATAL_ERROR "${folder} belongs to no line of cmake/layers.txt")
  endif()
  set(${out} ${NEREID_FOREIGN_${layer}} PARENT_SCOPE)
endfunction()
