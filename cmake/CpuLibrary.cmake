# Compiles compiler/target/cpu/library/*.c to bitcode and embeds it.
# SPDX-License-Identifier: MIT

file(GLOB library_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/compiler/target/cpu/library/*)
set(library_bitcode ${PROJECT_BINARY_DIR}/compiler/target/cpu/Library.bc)
set(library_cpp ${PROJECT_BINARY_DIR}/compiler/target/cpu/LibraryBitcode.cpp)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/compiler/target/cpu)
# Not vectorised: kernels call the functions element by element. Not contracted: each rounding is meant.
add_custom_command(
  OUTPUT ${library_bitcode}
  COMMAND ${CMAKE_C_COMPILER} -std=c17 -O2 -fPIC -fno-math-errno -ffp-contract=off -fno-vectorize -fno-slp-vectorize -fno-stack-protector
          -fno-unwind-tables -fno-asynchronous-unwind-tables -Wall -Wextra -emit-llvm -c
          ${PROJECT_SOURCE_DIR}/compiler/target/cpu/library/All.c -o ${library_bitcode}
  DEPENDS ${library_sources}
  COMMENT "compiling the CPU's function library to bitcode"
  VERBATIM)
add_custom_command(
  OUTPUT ${library_cpp}
  COMMAND ${CMAKE_COMMAND} -D "OUTPUT=${library_cpp}" -D "INPUT=${library_bitcode}" -P ${CMAKE_CURRENT_LIST_DIR}/EmbedBitcode.cmake
  DEPENDS ${library_bitcode} ${CMAKE_CURRENT_LIST_DIR}/EmbedBitcode.cmake
  COMMENT "embedding the CPU's function library"
  VERBATIM)
nereid_library(compiler/target/cpu ${library_cpp})
