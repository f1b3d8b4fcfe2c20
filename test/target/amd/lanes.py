# How lanes exchange values in a reduction: DPP or permutations within rows of 16 lanes, then across the wave.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:total --signature '*fp32:16,*fp32:16,64' --num-warps 1 --target hip:gfx942 --emit amdgcn -o - | FileCheck %s --check-prefix=WAVE64
# RUN: nereid compile %s:total --signature '*fp32:16,*fp32:16,64' --num-warps 1 --target hip:gfx950 --emit amdgcn -o - | FileCheck %s --check-prefix=SWAP
# RUN: nereid compile %s:total --signature '*fp32:16,*fp32:16,32' --num-warps 1 --target hip:gfx1100 --emit amdgcn -o - | FileCheck %s --check-prefix=WAVE32
import triton
import triton.language as tl


@triton.jit
def total(x, o, N: tl.constexpr):
    tl.store(o, tl.sum(tl.load(x + tl.arange(0, N)), 0))


# WAVE64-DAG: quad_perm:[1,0,3,2]
# WAVE64-DAG: quad_perm:[2,3,0,1]
# WAVE64-DAG: row_half_mirror
# WAVE64-DAG: row_ror:8
# WAVE64-DAG: swizzle(SWAP,16)
# WAVE64-DAG: ds_bpermute_b32
# SWAP: v_permlane32_swap
# WAVE32-DAG: v_permlane16_b32
# WAVE32-DAG: v_permlanex16_b32
# WAVE32-NOT: ds_bpermute_b32
# WAVE32: .wavefront_size: 32
