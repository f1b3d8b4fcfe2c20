# Finds LLVM, MLIR, lld and the small libraries, and wraps them as nereid-llvm, nereid-mlir and nereid-plain.
# SPDX-License-Identifier: MIT

find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "LLVM 22 is needed; found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
endif()
find_package(LLD REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/lld)
find_package(Threads REQUIRED)
find_package(TBB REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)
find_path(NEREID_XXHASH_INCLUDE xxhash.h REQUIRED)
find_path(NEREID_ZSTD_INCLUDE zstd.h REQUIRED)
find_path(NEREID_ZLIB_INCLUDE zlib.h REQUIRED)
find_path(NEREID_SODIUM_INCLUDE sodium.h REQUIRED)
if(NEREID_STATIC_LLVM)
  find_library(NEREID_ZSTD_LIBRARY libzstd.a REQUIRED)
  find_library(NEREID_ZLIB_LIBRARY libz.a REQUIRED)
  find_library(NEREID_SODIUM_LIBRARY libsodium.a REQUIRED)
else()
  find_library(NEREID_ZSTD_LIBRARY zstd REQUIRED)
  find_library(NEREID_ZLIB_LIBRARY z REQUIRED)
  find_library(NEREID_SODIUM_LIBRARY sodium REQUIRED)
endif()
set(NEREID_MLIR_INCLUDE ${LLVM_INSTALL_PREFIX}/include)
find_program(NEREID_MLIR_TBLGEN mlir-tblgen HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)

# Header paths for every folder, and the libraries that artifact/ and runtime/ may use.
add_library(nereid-plain INTERFACE)
target_include_directories(nereid-plain INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/include)
target_include_directories(nereid-plain SYSTEM INTERFACE ${NEREID_XXHASH_INCLUDE} ${NEREID_ZSTD_INCLUDE} ${NEREID_ZLIB_INCLUDE}
  ${NEREID_SODIUM_INCLUDE})
target_link_libraries(nereid-plain INTERFACE nlohmann_json::nlohmann_json TBB::tbb)

# LLVM's headers; nereid-llvm-libraries has the libraries to link.
add_library(nereid-llvm INTERFACE)
target_link_libraries(nereid-llvm INTERFACE nereid-plain)
target_include_directories(nereid-llvm SYSTEM INTERFACE ${NEREID_MLIR_INCLUDE})
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(nereid-llvm INTERFACE ${llvm_definitions})

add_library(nereid-mlir INTERFACE)
target_link_libraries(nereid-mlir INTERFACE nereid-llvm)

add_library(nereid-llvm-libraries INTERFACE)
if(NEREID_STATIC_LLVM)
  include(StaticLlvm)
else()
  target_link_libraries(nereid-llvm-libraries INTERFACE MLIR LLVM lldELF lldCommon)
endif()

add_library(nereid-plain-libraries INTERFACE)
if(NEREID_TBB_SOURCE)
  include(StaticTbb)
  set(tbb_library $<TARGET_OBJECTS:nereid-tbb>)
else()
  set(tbb_library TBB::tbb)
endif()
target_link_libraries(nereid-plain-libraries INTERFACE ${tbb_library} ${NEREID_ZSTD_LIBRARY} ${NEREID_ZLIB_LIBRARY} ${NEREID_SODIUM_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS})
