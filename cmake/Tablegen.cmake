# Runs mlir-tblgen over a folder's .td files; X.td gives X.h.inc and X.cpp.inc at the same path under the build folder.
# SPDX-License-Identifier: MIT

add_custom_target(nereid-tablegen)

function(nereid_tablegen td suffix)
  cmake_path(REMOVE_EXTENSION td LAST_ONLY OUTPUT_VARIABLE stem)
  set(output ${PROJECT_BINARY_DIR}/${stem}.${suffix}.inc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${NEREID_MLIR_TBLGEN} ${ARGN} -I ${PROJECT_SOURCE_DIR} -I ${NEREID_MLIR_INCLUDE}
            ${PROJECT_SOURCE_DIR}/${td} --write-if-changed -o ${output} -d ${output}.d
    DEPENDS ${PROJECT_SOURCE_DIR}/${td}
    DEPFILE ${output}.d
    COMMENT "tblgen ${stem}.${suffix}.inc"
    VERBATIM)
  string(REPLACE "/" "_" target "tablegen_${stem}_${suffix}")
  add_custom_target(${target} DEPENDS ${output})
  add_dependencies(nereid-tablegen ${target})
endfunction()

# The .td files of a dialect folder, distinguished by name: Dialect, Types, Attrs, AttrInterfaces, Enums, *Interfaces or
# Ops, which includes those of op families.
function(nereid_dialect folder)
  file(STRINGS ${PROJECT_SOURCE_DIR}/${folder}/Dialect.td dialect REGEX "let name = ")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" dialect "${dialect}")
  file(GLOB tds RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.td)
  foreach(td IN LISTS tds)
    cmake_path(GET td STEM name)
    if(name STREQUAL "Dialect")
      nereid_tablegen(${td} h -gen-dialect-decls -dialect=${dialect})
      nereid_tablegen(${td} cpp -gen-dialect-defs -dialect=${dialect})
    elseif(name STREQUAL "Types")
      nereid_tablegen(${td} h -gen-typedef-decls -typedefs-dialect=${dialect})
      nereid_tablegen(${td} cpp -gen-typedef-defs -typedefs-dialect=${dialect})
    elseif(name STREQUAL "Attrs")
      nereid_tablegen(${td} h -gen-attrdef-decls -attrdefs-dialect=${dialect})
      nereid_tablegen(${td} cpp -gen-attrdef-defs -attrdefs-dialect=${dialect})
    elseif(name STREQUAL "AttrInterfaces")
      nereid_tablegen(${td} h -gen-attr-interface-decls)
      nereid_tablegen(${td} cpp -gen-attr-interface-defs)
    elseif(name STREQUAL "Enums")
      nereid_tablegen(${td} h -gen-enum-decls)
      nereid_tablegen(${td} cpp -gen-enum-defs)
    elseif(name MATCHES "Interfaces$")
      nereid_tablegen(${td} h -gen-op-interface-decls)
      nereid_tablegen(${td} cpp -gen-op-interface-defs)
    elseif(name STREQUAL "Ops")
      nereid_tablegen(${td} h -gen-op-decls -dialect=${dialect})
      nereid_tablegen(${td} cpp -gen-op-defs -dialect=${dialect})
    endif()
  endforeach()
endfunction()

# Passes.td of a folder gives Passes.h.inc with register<Folder>Passes(), as in registerTtPasses().
function(nereid_passes folder)
  cmake_path(GET folder FILENAME group)
  if(group STREQUAL "passes")
    cmake_path(GET folder PARENT_PATH parent)
    cmake_path(GET parent FILENAME group)
  endif()
  string(SUBSTRING ${group} 0 1 initial)
  string(SUBSTRING ${group} 1 -1 rest)
  string(TOUPPER ${initial} initial)
  nereid_tablegen(${folder}/Passes.td h -gen-pass-decls -name=${initial}${rest})
endfunction()
