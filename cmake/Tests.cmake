# Builds the unit tests (gtest, one program) and fuzzers (one program per file, asan preset), and registers lit and the
# test levels with ctest.
# SPDX-License-Identifier: MIT

enable_testing()

# A libcuda.so.1 and a libamdhip64.so that record the calls they receive: launches on a GPU are tested without one.
file(GLOB stub_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/stub/*.cpp)
foreach(stub IN ITEMS cuda hip)
  file(GLOB own_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/stub/${stub}/*.cpp)
  add_library(nereid-stub-${stub} SHARED EXCLUDE_FROM_ALL ${stub_sources} ${own_sources})
  nereid_layer_flags(nereid-stub-${stub} runtime) # as the runtime: no LLVM, no exceptions
  target_compile_options(nereid-stub-${stub} PRIVATE -fvisibility=hidden)
  target_link_libraries(nereid-stub-${stub} PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(nereid-stub-${stub} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/stub)
endforeach()
set_target_properties(nereid-stub-cuda PROPERTIES OUTPUT_NAME cuda SUFFIX .so.1)
set_target_properties(nereid-stub-hip PROPERTIES OUTPUT_NAME amdhip64 SUFFIX .so.6)

# A libnvJitLink.so that links nothing.
add_library(nereid-stub-nvjitlink SHARED EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/test/stub/nvjitlink/NvJitLink.cpp)
nereid_layer_flags(nereid-stub-nvjitlink runtime)
set_target_properties(nereid-stub-nvjitlink PROPERTIES OUTPUT_NAME nvJitLink SUFFIX .so.98
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/stub)

# A ptxas that keeps the results of the real one.
add_executable(nereid-keeping-ptxas EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/test/stub/ptxas/KeepingPtxas.cpp)
nereid_layer_flags(nereid-keeping-ptxas runtime)
set_target_properties(nereid-keeping-ptxas PROPERTIES OUTPUT_NAME ptxas
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/stub)

# For LD_PRELOAD: a folder on a slow network file system.
add_library(nereid-stub-files SHARED EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/test/stub/files/SlowFiles.cpp)
nereid_layer_flags(nereid-stub-files runtime)
target_link_libraries(nereid-stub-files PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(nereid-stub-files PROPERTIES OUTPUT_NAME slowfiles
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/stub)

# What tests need beside the products.
add_custom_target(nereid-tests DEPENDS nereid-stub-cuda nereid-stub-hip nereid-stub-nvjitlink nereid-keeping-ptxas
  nereid-stub-files)

find_package(GTest CONFIG)
file(GLOB_RECURSE unit_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/unit/*.cpp ${PROJECT_SOURCE_DIR}/test/cache/*.cpp)
if(unit_sources AND GTest_FOUND)
  add_executable(nereid-unit-tests EXCLUDE_FROM_ALL ${unit_sources})
  nereid_layer_flags(nereid-unit-tests test/unit)
  nereid_unity(nereid-unit-tests)
  nereid_link_objects(nereid-unit-tests)
  target_sources(nereid-unit-tests PRIVATE $<TARGET_OBJECTS:nereid-xla-objects>)
  target_link_libraries(nereid-unit-tests PRIVATE GTest::gtest GTest::gtest_main)
  target_compile_definitions(nereid-unit-tests PRIVATE GTEST_HAS_EXCEPTIONS=0)
  target_compile_options(nereid-unit-tests PRIVATE -g0) # an assertion of gtest's names its line
  set_source_files_properties(${PROJECT_SOURCE_DIR}/test/unit/runtime/StubDriver.cpp PROPERTIES
    COMPILE_DEFINITIONS "NEREID_STUB_LIBCUDA=\"$<TARGET_FILE:nereid-stub-cuda>\";NEREID_STUB_LIBAMDHIP64=\"$<TARGET_FILE:nereid-stub-hip>\"")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/test/unit/target_nvidia/PtxAssemblerTest.cpp PROPERTIES
    COMPILE_DEFINITIONS "NEREID_STUB_NVJITLINK=\"$<TARGET_FILE:nereid-stub-nvjitlink>\"")
  add_dependencies(nereid-unit-tests nereid-stub-cuda nereid-stub-hip nereid-stub-nvjitlink)
  add_dependencies(nereid-tests nereid-unit-tests)
  # The C++ API throws.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/test/unit/jit/KernelTest.cpp PROPERTIES
    COMPILE_OPTIONS -fexceptions SKIP_PRECOMPILE_HEADERS ON)
endif()

# What threads share in runtime and jit, without LLVM (test/README.md tells how it runs).
if(NEREID_SANITIZE_THREADS AND GTest_FOUND)
  set(folders artifact process runtime/cpu)
  set(thread_sources runtime/Device.cpp runtime/WriteAll.cpp compiler/support/ForkGate.cpp)
  foreach(name IN ITEMS CacheFolder CacheView DiskCache LaunchTable PrivateFile)
    list(APPEND thread_sources jit/${name}.cpp)
  endforeach()
  foreach(test IN ITEMS jit/LaunchTableTest jit/DiskCacheTest runtime/CKernel runtime/CpuLaunchTest
                        runtime/CpuStateTest runtime/CpuThreadsTest)
    list(APPEND thread_sources test/unit/${test}.cpp)
  endforeach()
  foreach(folder IN LISTS folders)
    file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND thread_sources ${sources})
  endforeach()
  list(TRANSFORM thread_sources PREPEND ${PROJECT_SOURCE_DIR}/)
  add_executable(nereid-thread-tests EXCLUDE_FROM_ALL ${thread_sources})
  nereid_layer_flags(nereid-thread-tests artifact)
  # Device.cpp also knows the devices of GPUs, which no test here opens.
  target_link_options(nereid-thread-tests PRIVATE -Wl,--unresolved-symbols=ignore-all)
  target_link_libraries(nereid-thread-tests PRIVATE nereid-plain-libraries GTest::gtest GTest::gtest_main)
  target_compile_definitions(nereid-thread-tests PRIVATE GTEST_HAS_EXCEPTIONS=0)
endif()

# test/exhaustive/Math.cpp makes nereid-math-exhaustive: minutes of work, built only by name.
file(GLOB exhaustive_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/exhaustive/*.cpp)
set(unit_support ${unit_sources})
list(FILTER unit_support EXCLUDE REGEX "Test\\.cpp$")
foreach(source IN LISTS exhaustive_sources)
  cmake_path(GET source STEM name)
  string(TOLOWER ${name} name)
  add_executable(nereid-${name}-exhaustive EXCLUDE_FROM_ALL ${source} ${unit_support})
  nereid_layer_flags(nereid-${name}-exhaustive test/exhaustive)
  nereid_link_objects(nereid-${name}-exhaustive)
endforeach()

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/fuzz/*.cpp)
if(NEREID_SANITIZE)
  foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM name)
    add_executable(fuzz-${name} ${source})
    nereid_layer_flags(fuzz-${name} test/fuzz)
    nereid_link_objects(fuzz-${name})
    target_link_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
  endforeach()
else()
  # All fuzz targets in one program that runs them on given files: they are compiled and tested with every build.
  add_executable(nereid-fuzz-seeds EXCLUDE_FROM_ALL ${fuzz_sources} ${PROJECT_SOURCE_DIR}/test/fuzz/seeds/RunSeeds.cpp)
  nereid_layer_flags(nereid-fuzz-seeds test/fuzz)
  nereid_link_objects(nereid-fuzz-seeds)
  set(fuzz_targets "")
  foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM name)
    string(APPEND fuzz_targets " X(${name})")
    set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS "LLVMFuzzerTestOneInput=nereid_fuzz_${name}")
  endforeach()
  set_source_files_properties(${PROJECT_SOURCE_DIR}/test/fuzz/seeds/RunSeeds.cpp PROPERTIES
    COMPILE_DEFINITIONS "NEREID_FUZZ_TARGETS=${fuzz_targets}")
  add_dependencies(nereid-tests nereid-fuzz-seeds)
endif()

if(EXISTS ${PROJECT_SOURCE_DIR}/test/lit.site.cfg.py.in)
  configure_file(${PROJECT_SOURCE_DIR}/test/lit.site.cfg.py.in ${PROJECT_BINARY_DIR}/test/lit.site.cfg.py @ONLY)
endif()
foreach(level IN ITEMS unit golden ir run ptx python xla layers)
  add_test(NAME ${level} COMMAND ${PROJECT_SOURCE_DIR}/dev test --no-build ${level} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${level} PROPERTIES LABELS ${level})
endforeach()
