# Compiles the C files of compiler/target/TARGET/library to bitcode and embeds them.
# SPDX-License-Identifier: MIT

# Not vectorised: kernels call the functions element by element. Not contracted: each rounding is intended.
set(library_flags -std=c17 -O2 -fno-math-errno -ffp-contract=off -fno-vectorize -fno-slp-vectorize -fno-stack-protector
    -fno-unwind-tables -fno-asynchronous-unwind-tables -Wall -Wextra)

# Embeds the bitcode as nereid::TARGET::libraryBitcode(), which `header` declares.
function(nereid_device_library target header)
  set(folder ${PROJECT_SOURCE_DIR}/compiler/target/${target}/library)
  set(output ${PROJECT_BINARY_DIR}/compiler/target/${target})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/* ${PROJECT_SOURCE_DIR}/compiler/math/library/*
       ${PROJECT_SOURCE_DIR}/compiler/math/library/gpu/*)
  file(MAKE_DIRECTORY ${output})
  add_custom_command(
    OUTPUT ${output}/Library.bc
    COMMAND ${CMAKE_C_COMPILER} ${library_flags} ${ARGN} -I${folder} -I${PROJECT_SOURCE_DIR} -emit-llvm -c ${folder}/All.c -o ${output}/Library.bc
    DEPENDS ${sources}
    COMMENT "compiling the function library of ${target} to bitcode"
    VERBATIM)
  add_custom_command(
    OUTPUT ${output}/LibraryBitcode.cpp
    COMMAND ${CMAKE_COMMAND} -D "OUTPUT=${output}/LibraryBitcode.cpp" -D "INPUT=${output}/Library.bc" -D TARGET=${target}
            -D HEADER=compiler/target/${target}/${header} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedBitcode.cmake
    DEPENDS ${output}/Library.bc ${PROJECT_SOURCE_DIR}/cmake/EmbedBitcode.cmake
    COMMENT "embedding the function library of ${target}"
    VERBATIM)
  nereid_library(compiler/target/${target} ${output}/LibraryBitcode.cpp)
endfunction()

# Library.h of the files that GPUs share.
set(gpu_library -I${PROJECT_SOURCE_DIR}/compiler/math/library/gpu)

nereid_device_library(cpu emit/CLibrary.h -fPIC)
nereid_device_library(nvidia lowering/LibraryBitcode.h --target=nvptx64-nvidia-cuda -ffreestanding
                      ${gpu_library})
# Without -nogpulib clang links AMD's own library; the bitcode fits every GPU of AMD's.
nereid_device_library(amd lowering/LibraryBitcode.h --target=amdgcn-amd-amdhsa -nogpulib -mcode-object-version=5 -ffreestanding
                      ${gpu_library})
