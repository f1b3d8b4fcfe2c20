# Writes FOLDER/Diagnostics.h, below the build folder, for each folder with a Diagnostics.def: its lines as constants.
# SPDX-License-Identifier: MIT

file(GLOB_RECURSE tables RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/compiler/Diagnostics.def
     ${PROJECT_SOURCE_DIR}/jit/Diagnostics.def)
foreach(table IN LISTS tables)
  cmake_path(GET table PARENT_PATH folder)
  # compiler/passes/ttg has the namespace ttg, compiler/target/amd and the folders below it have amd.
  string(REGEX REPLACE "^compiler/target/([^/]+).*" "\\1" namespace ${folder})
  cmake_path(GET namespace FILENAME namespace)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/Diagnostics.h.in ${PROJECT_BINARY_DIR}/${folder}/Diagnostics.h @ONLY)
endforeach()
