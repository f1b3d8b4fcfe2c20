# Limits the LLVM symbols that libnereid exports to those that its clients use: `exports` becomes a version script made
# from the clients' undefined symbols.
# SPDX-License-Identifier: MIT

get_property(clients GLOBAL PROPERTY NEREID_CLIENTS)
set(client_objects)
foreach(client IN LISTS clients)
  list(APPEND client_objects $<TARGET_OBJECTS:${client}>)
endforeach()
set(base_exports ${exports})
set(exports ${PROJECT_BINARY_DIR}/exports.map)
set(wanted ${PROJECT_BINARY_DIR}/exports.rsp)
add_custom_command(
  OUTPUT ${exports} ${wanted}
  COMMAND ${CMAKE_COMMAND} -D "NM=${CMAKE_NM}" -D "OBJECTS=${client_objects}" -D BASE=${base_exports} -D MAP=${exports} -D RSP=${wanted}
          -P ${CMAKE_CURRENT_LIST_DIR}/WriteExports.cmake
  DEPENDS ${client_objects} ${base_exports} ${CMAKE_CURRENT_LIST_DIR}/WriteExports.cmake
  COMMENT "collecting what the clients ask of LLVM"
  VERBATIM)
target_sources(nereid PRIVATE ${exports} ${wanted})
target_link_options(nereid PRIVATE @${wanted})
