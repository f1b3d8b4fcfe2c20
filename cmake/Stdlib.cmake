# Embeds compiler/stdlib/*.py as text.
# SPDX-License-Identifier: MIT

file(GLOB stdlib_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/compiler/stdlib/*.py)
set(stdlib_cpp ${PROJECT_BINARY_DIR}/compiler/stdlib/Sources.cpp)
add_custom_command(
  OUTPUT ${stdlib_cpp}
  COMMAND ${CMAKE_COMMAND} -D "OUTPUT=${stdlib_cpp}" -D "SOURCES=${stdlib_sources}" -P ${CMAKE_CURRENT_LIST_DIR}/EmbedSources.cmake
  DEPENDS ${stdlib_sources} ${CMAKE_CURRENT_LIST_DIR}/EmbedSources.cmake
  COMMENT "embedding compiler/stdlib"
  VERBATIM)
nereid_library(compiler/stdlib ${stdlib_cpp})
