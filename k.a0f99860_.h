#ifndef TT_KERNEL_INCLUDES
#define TT_KERNEL_INCLUDES

#include <cuda.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#endif

// tt-linker-backend: cuda

void unload_k_a0f99860_(void);
void load_k_a0f99860_(void);
// tt-linker: k_a0f99860_:CUdeviceptr x:15_warps1xstages3
CUresult k_a0f99860_(CUstream stream, CUdeviceptr x);
