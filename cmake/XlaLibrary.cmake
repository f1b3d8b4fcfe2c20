# Builds libtriton_xla.so next to the Python module: handlers of XLA's custom calls. The functions that they call are in
# libnereid.
# SPDX-License-Identifier: MIT

file(GLOB xla_handler_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/xla/handlers/*.cpp)
add_library(nereid-xla-objects OBJECT ${xla_handler_sources})
nereid_layer_flags(nereid-xla-objects xla)
target_compile_options(nereid-xla-objects PRIVATE -fvisibility=hidden)
set_property(GLOBAL APPEND PROPERTY NEREID_CLIENTS nereid-xla-objects)

add_library(triton_xla SHARED $<TARGET_OBJECTS:nereid-xla-objects>)
target_link_libraries(triton_xla PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(triton_xla PROPERTIES LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/triton/_C)
list(APPEND NEREID_LINKED triton_xla)
