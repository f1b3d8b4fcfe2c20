"""Kernels whose PTX other compilers of the language make; the arguments and expected results are in cases.py."""
# SPDX-License-Identifier: MIT

import triton
import triton.language as tl


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(
        out_ptr + offsets,
        tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask),
        mask=mask,
    )


@triton.jit
def softmax(x_ptr, out_ptr, row_stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    mask = lanes < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        x = tl.load(x_ptr + row * row_stride + lanes, mask=mask, other=-float("inf"))
        numerator = tl.exp(x - tl.max(x, axis=0))
        tl.store(
            out_ptr + row * row_stride + lanes, numerator / tl.sum(numerator, axis=0), mask=mask
        )


@triton.jit
def layer_norm(
    x_ptr,
    out_ptr,
    weight_ptr,
    bias_ptr,
    mean_ptr,
    rstd_ptr,
    stride,
    columns,
    eps,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * stride + at, mask=at < columns, other=0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + at, mask=at < columns, other=0).to(tl.float32)
        centred = tl.where(at < columns, x - mean, 0.0)
        squares += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        mask = at < columns
        x = tl.load(x_ptr + row * stride + at, mask=mask, other=0).to(tl.float32)
        y = (x - mean) * rstd * tl.load(weight_ptr + at, mask=mask) + tl.load(
            bias_ptr + at, mask=mask
        )
        tl.store(out_ptr + row * stride + at, y, mask=mask)


@triton.jit
def layer_norm_backward(
    dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, columns,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    x = tl.load(x_ptr + row * stride + at, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + at, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + at, mask=mask, other=0).to(tl.float32)
    rstd = tl.load(rstd_ptr + row)
    normal = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
    scaled = tl.where(mask, w * dy, 0.0)
    projection = tl.sum(normal * scaled, axis=0) / columns
    shift = tl.sum(scaled, axis=0) / columns
    tl.store(dx_ptr + row * stride + at, (scaled - (normal * projection + shift)) * rstd, mask=mask)
    # The rows of a group add to one partial sum, one at a time.
    group = row % GROUPS
    while tl.atomic_cas(lock_ptr + group, 0, 1) == 1:
        pass
    partial_w = dy * normal
    partial_b = dy
    is_first = tl.load(lock_ptr + GROUPS + group) == 0
    if is_first:
        tl.atomic_xchg(lock_ptr + GROUPS + group, 1)
    else:
        partial_w += tl.load(dw_ptr + group * columns + at, mask=mask)
        partial_b += tl.load(db_ptr + group * columns + at, mask=mask)
    tl.store(dw_ptr + group * columns + at, partial_w, mask=mask)
    tl.store(db_ptr + group * columns + at, partial_b, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr + group, 0)


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    first = pid // (GROUP * tiles_n) * GROUP
    rows = min(tiles_m - first, GROUP)
    pid_m = first + pid % (GROUP * tiles_n) % rows
    pid_n = pid % (GROUP * tiles_n) // rows
    m = pid_m * BM + tl.arange(0, BM)
    n = pid_n * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_ptrs = a_ptr + (m % M)[:, None] * stride_am + k[None, :]
    b_ptrs = b_ptr + k[:, None] * stride_bk + (n % N)[None, :]
    total = tl.zeros([BM, BN], tl.float32)
    for step in range(tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=k[None, :] < K - step * BK, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - step * BK, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BK
        b_ptrs += BK * stride_bk
    mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(
        c_ptr + m[:, None] * stride_cm + n[None, :], total.to(c_ptr.dtype.element_ty), mask=mask
    )


@triton.jit
def matmul_persistent(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    tiles_n = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * tiles_n
    for tile in tl.range(
        tl.program_id(0), tiles, PROGRAMS, flatten=True, warp_specialize=SPECIALIZE
    ):
        m = tile // tiles_n * BM
        n = tile % tiles_n * BN
        total = tl.zeros([BM, BN], tl.float32)
        for step in range(tl.cdiv(K, BK)):
            a = a_desc.load([m, step * BK])
            b = b_desc.load([n, step * BK])
            total = tl.dot(a, b.T, total)
        c_desc.store([m, n], total.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_grouped(a_ptrs, b_ptrs, c_ptrs, sizes, groups, PROGRAMS: tl.constexpr, B: tl.constexpr):
    tile = tl.program_id(0)
    end = 0
    for group in range(groups):
        M = tl.load(sizes + group * 3)
        N = tl.load(sizes + group * 3 + 1)
        K = tl.load(sizes + group * 3 + 2)
        tiles_n = tl.cdiv(N, B)
        count = tl.cdiv(M, B) * tiles_n
        while tile >= end and tile < end + count:
            a_ptr = tl.load(a_ptrs + group).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(b_ptrs + group).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(c_ptrs + group).to(tl.pointer_type(tl.float16))
            m = (tile - end) // tiles_n * B + tl.arange(0, B)
            n = (tile - end) % tiles_n * B + tl.arange(0, B)
            k = tl.arange(0, B)
            total = tl.zeros([B, B], tl.float32)
            for step in range(tl.cdiv(K, B)):
                a = tl.load(a_ptr + m[:, None] * K + (step * B + k)[None, :])
                b = tl.load(b_ptr + (step * B + k)[:, None] * N + n[None, :])
                total += tl.dot(a, b)
            tl.store(c_ptr + m[:, None] * N + n[None, :], total.to(tl.float16))
            tile += PROGRAMS
        end += count


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale, length,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    d = tl.arange(0, D)
    base = head * length * D
    q = tl.load(q_ptr + base + m[:, None] * D + d[None, :])
    highest = tl.full([BM], -float("inf"), tl.float32)
    norm = tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, D], tl.float32)
    end = (tl.program_id(0) + 1) * BM if CAUSAL else length
    for begin in tl.range(0, end, BN, warp_specialize=SPECIALIZE):
        k = tl.load(k_ptr + base + (begin + n)[None, :] * D + d[:, None])
        s = tl.dot(q, k) * (scale * 1.44269504)
        if CAUSAL:
            s = tl.where(m[:, None] >= (begin + n)[None, :], s, -1e30)
        now = tl.maximum(highest, tl.max(s, 1))
        p = tl.math.exp2(s - now[:, None])
        alpha = tl.math.exp2(highest - now)
        norm = norm * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + base + (begin + n)[:, None] * D + d[None, :])
        total = tl.dot(p.to(v.dtype), v, total * alpha[:, None])
        highest = now
    tl.store(
        out_ptr + base + m[:, None] * D + d[None, :],
        (total / norm[:, None]).to(out_ptr.dtype.element_ty),
    )
    tl.store(lse_ptr + head * length + m, highest + tl.math.log2(norm))


@triton.jit
def attention_backward(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, scale, length,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    base = tl.program_id(1) * length * D
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    k = tl.load(k_ptr + base + n[:, None] * D + d[None, :])
    v = tl.load(v_ptr + base + n[:, None] * D + d[None, :])
    dk = tl.zeros([BN, D], tl.float32)
    dv = tl.zeros([BN, D], tl.float32)
    for begin in range(0, length, BM):
        m = begin + tl.arange(0, BM)
        q = tl.load(q_ptr + base + m[:, None] * D + d[None, :])
        do = tl.load(do_ptr + base + m[:, None] * D + d[None, :])
        lse = tl.load(lse_ptr + tl.program_id(1) * length + m)
        delta = tl.load(delta_ptr + tl.program_id(1) * length + m)
        p = tl.math.exp2(tl.dot(k, tl.trans(q)) * (scale * 1.44269504) - lse[None, :])
        dv += tl.dot(p.to(do.dtype), do)
        dp = tl.dot(v, tl.trans(do))
        ds = p * (dp - delta[None, :])
        dk += tl.dot(ds.to(q.dtype), q)
    tl.store(dk_ptr + base + n[:, None] * D + d[None, :], (dk * scale).to(dk_ptr.dtype.element_ty))
    tl.store(dv_ptr + base + n[:, None] * D + d[None, :], dv.to(dv_ptr.dtype.element_ty))


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keeps = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keeps, x / (1 - p), 0.0), mask=mask)


@triton.jit
def running(x_ptr, sums_ptr, sorted_ptr, counts_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes)
    tl.store(sums_ptr + lanes, tl.cumsum(x, 0))
    tl.store(sorted_ptr + lanes, tl.sort(x))
    tl.store(counts_ptr + tl.arange(0, 16), tl.histogram(x & 15, 16))
