# Builds the Python module triton._C.libtriton, and build/<preset>/python, from which the package is used without
# installing.
# SPDX-License-Identifier: MIT

set(NEREID_PYTHON_DIR ${PROJECT_BINARY_DIR}/python)
if(NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
configure_file(${CMAKE_CURRENT_LIST_DIR}/version/_version.py.in ${NEREID_PYTHON_DIR}/nereid/_version.py @ONLY)
file(GLOB binding_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/bindings/*.cpp)

if(Python_Interpreter_FOUND)
  add_custom_target(nereid-python-tree ALL
    COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/link_python.py ${PROJECT_SOURCE_DIR}/python ${NEREID_PYTHON_DIR}
    COMMENT "linking the Python package into the build folder"
    VERBATIM)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_DIR
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE nanobind_missing)
endif()
if(NOT binding_sources)
  return()
endif()
if(NOT Python_Development.Module_FOUND OR nanobind_missing)
  message(WARNING "no Python headers or no nanobind for ${Python_EXECUTABLE}: the Python module is left out (./dev setup brings them)")
  return()
endif()

find_package(nanobind CONFIG REQUIRED)
nereid_client(libtriton ${binding_sources})
# FREE_THREADED has an effect where the Python has no GIL: the module declares that it needs none.
nanobind_add_module(libtriton FREE_THREADED NB_STATIC NOMINSIZE $<TARGET_OBJECTS:libtriton-objects>)
target_link_libraries(libtriton-objects PRIVATE Python::Module)
target_include_directories(libtriton-objects SYSTEM PRIVATE ${NB_DIR}/include)
target_compile_options(libtriton-objects PRIVATE -fno-strict-aliasing)
target_compile_definitions(libtriton-objects PRIVATE $<$<BOOL:${NB_FREE_THREADED}>:NB_FREE_THREADED>)
add_dependencies(libtriton nereid-python-tree)
set_target_properties(libtriton PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${NEREID_PYTHON_DIR}/triton/_C LINKER_LANGUAGE CXX)
# Python's own symbols come from the process that imports the module.
target_link_options(libtriton PRIVATE -Wl,-z,undefs)
list(APPEND NEREID_LINKED libtriton)
# So the linker also accepts undefined symbols of this project; loading the module once finds them. The type stubs are
# written from its table of built-ins.
if(NOT NEREID_SANITIZE)
  add_custom_command(TARGET libtriton POST_BUILD
    COMMAND ${Python_EXECUTABLE} -c
            "import importlib.util as u, sys; u.module_from_spec(u.spec_from_file_location('libtriton', sys.argv[1]))" $<TARGET_FILE:libtriton>
    VERBATIM)
  set(stubs ${NEREID_PYTHON_DIR}/triton/language)
  file(GLOB shared CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/triton/language/*.py)
  add_custom_command(
    OUTPUT ${stubs}/core.pyi
    COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${NEREID_PYTHON_DIR} ${Python_EXECUTABLE}
            ${PROJECT_SOURCE_DIR}/scripts/generate_stubs.py ${stubs}
    DEPENDS libtriton nereid ${PROJECT_SOURCE_DIR}/scripts/generate_stubs.py ${shared}
    COMMENT "writing the type stubs of triton.language"
    VERBATIM)
  add_custom_target(nereid-stubs ALL DEPENDS ${stubs}/core.pyi)
endif()
