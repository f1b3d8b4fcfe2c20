"""A matmul in blocks: programs in groups of rows, ragged edges, any strides, an activation at the end."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import BFloat16, check, values


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def block_of(pid, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr):
    """Row and column of a program's block: GROUP rows of blocks are finished before the next ones begin."""
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = pid // (GROUP * columns)
    first = group * GROUP
    size = min(rows - first, GROUP)
    inside = pid % (GROUP * columns)
    return first + inside % size, inside // size


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr,
):  # fmt: skip
    row, column = block_of(tl.program_id(0), M, N, BLOCK_M, BLOCK_N, GROUP)
    m = row * BLOCK_M + tl.arange(0, BLOCK_M)
    n = column * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_at = a_ptr + (m % M)[:, None] * stride_am + k[None, :] * stride_ak
    b_at = b_ptr + k[:, None] * stride_bk + (n % N)[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_at, mask=k[None, :] < K - start, other=0.0)
        b = tl.load(b_at, mask=k[:, None] < K - start, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_at += BLOCK_K * stride_ak
        b_at += BLOCK_K * stride_bk
    if ACTIVATION is not None:
        acc = ACTIVATION(acc)
    c_at = c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_at, acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


SHAPES = [(64, 64, 32), (100, 70, 45), (1, 33, 7), (129, 16, 64), (31, 130, 1)]


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_matmuls(shape, dtype, transposed, device):
    M, N, K = shape
    # Multiples of 1/4: products and sums are exact in every type, in any order.
    a, b = (np.floor(values("float32", *size, seed=seed)) / 4 for seed, size in enumerate([(M, K), (K, N)]))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    if transposed[0]:
        a = np.ascontiguousarray(a.T).T
    if transposed[1]:
        b = np.ascontiguousarray(b.T).T
    strides = [side // 4 for matrix in (a, b) for side in matrix.strides]
    typed = BFloat16 if dtype == "bfloat16" else lambda matrix: matrix.astype(dtype)
    store = [matrix.T if flipped else matrix for matrix, flipped in zip((a, b), transposed, strict=True)]
    arguments = dict(zip(("a_ptr", "b_ptr"), map(typed, store), strict=True))
    arguments |= dict(c_ptr=np.zeros((M, N), np.float32), M=M, N=N, K=K)
    names = ("stride_am", "stride_ak", "stride_bk", "stride_bn", "stride_cm", "stride_cn")
    arguments |= dict(zip(names, [*strides, N, 1], strict=True))
    arguments |= dict(BLOCK_M=32, BLOCK_N=16, BLOCK_K=32, GROUP=2, ACTIVATION=None)
    grid = (triton.cdiv(M, 32) * triton.cdiv(N, 16),)
    check(matmul_kernel, grid, arguments, dict(c_ptr=exact.astype(np.float32)), device=device)


# A thread's registers hold the sums and little else; lengths that are multiples of 16 are loaded as vectors.
@pytest.mark.parametrize("tile, warps", [((128, 128, 64), 4), ((128, 128, 32), 4), ((256, 128, 64), 8)])
@pytest.mark.parametrize("shape", [(272, 144, 176), (140, 133, 70)])
def test_large_tiles(shape, tile, warps, device):
    M, N, K = shape
    a, b = (np.floor(values("float32", *size, seed=seed)) / 4 for seed, size in enumerate([(M, K), (K, N)]))
    arguments = dict(a_ptr=a.astype(np.float16), b_ptr=b.astype(np.float16), c_ptr=np.zeros((M, N), np.float32))
    arguments |= dict(M=M, N=N, K=K, stride_am=K, stride_ak=1, stride_bk=N, stride_bn=1, stride_cm=N, stride_cn=1)
    arguments |= dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
    arguments |= dict(GROUP=2, ACTIVATION=None, num_warps=warps)
    grid = (triton.cdiv(M, tile[0]) * triton.cdiv(N, tile[1]),)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    check(matmul_kernel, grid, arguments, dict(c_ptr=exact.astype(np.float32)), device=device)


def test_an_activation_and_a_narrow_result(device):
    M, N, K = 50, 40, 90
    a, b = values("float16", M, K), values("float16", K, N, seed=1)
    c = a.astype(np.float64) @ b.astype(np.float64)
    c = np.where(c >= 0, c, 0.01 * c)
    arguments = dict(a_ptr=a, b_ptr=b, c_ptr=np.zeros((M, N), np.float16), M=M, N=N, K=K)
    arguments |= dict(stride_am=K, stride_ak=1, stride_bk=N, stride_bn=1, stride_cm=N, stride_cn=1)
    arguments |= dict(BLOCK_M=16, BLOCK_N=32, BLOCK_K=16, GROUP=8, ACTIVATION=leaky_relu)
    check(matmul_kernel, (8,), arguments, dict(c_ptr=c.astype(np.float16)), device=device, rtol=2e-3, atol=2e-3)
