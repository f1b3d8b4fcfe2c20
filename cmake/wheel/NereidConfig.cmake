# The C++ API of an installed Nereid: find_package(Nereid PATHS "$(nereid path)/triton/_C") makes nereid::nereid.
# SPDX-License-Identifier: MIT

if(NOT TARGET nereid::nereid)
  get_filename_component(nereid_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  add_library(nereid::nereid SHARED IMPORTED)
  set_target_properties(nereid::nereid PROPERTIES IMPORTED_LOCATION "${nereid_root}/libnereid.so"
    INTERFACE_INCLUDE_DIRECTORIES "${nereid_root}/include" INTERFACE_COMPILE_FEATURES cxx_std_20)
endif()
