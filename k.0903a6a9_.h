#ifndef TT_KERNEL_INCLUDES
#define TT_KERNEL_INCLUDES

#include <cuda.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#endif

// tt-linker-backend: cuda

void unload_k_0903a6a9_(void);
void load_k_0903a6a9_(void);
// tt-linker: k_0903a6a9_:CUdeviceptr x:16_warps1xstages3
CUresult k_0903a6a9_(CUstream stream, CUdeviceptr x);
