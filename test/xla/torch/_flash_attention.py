"""Flash attention for the tests: forward and backward kernels, full and causal, any length; strides are arguments."""
# SPDX-License-Identifier: MIT

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _head(zh, H, stride_z, stride_h):
    """The offset of a head's matrix."""
    return (zh // H).to(tl.int64) * stride_z + (zh % H).to(tl.int64) * stride_h


@triton.jit
def _visible(rows, cols, N_CTX, IS_CAUSAL: tl.constexpr):
    seen = (rows[:, None] < N_CTX) & (cols[None, :] < N_CTX)
    if IS_CAUSAL:
        seen = seen & (rows[:, None] >= cols[None, :])
    return seen


@triton.jit
def attention_forward(Q, K, V, sm_scale, M, Out,
                      stride_qz, stride_qh, stride_qm, stride_qk,
                      stride_kz, stride_kh, stride_kn, stride_kk,
                      stride_vz, stride_vh, stride_vn, stride_vk,
                      stride_oz, stride_oh, stride_om, stride_on,
                      Z, H, N_CTX,
                      HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr):
    """STAGE 1: all keys; 3: those up to the query. M: the logarithm (base 2) of each row's sum."""
    tl.static_assert(STAGE == 1 or STAGE == 3)
    start, zh = tl.program_id(0) * BLOCK_M, tl.program_id(1)
    q_block = tl.make_block_ptr(Q + _head(zh, H, stride_qz, stride_qh), (N_CTX, HEAD_DIM),
                                (stride_qm, stride_qk), (start, 0), (BLOCK_M, HEAD_DIM), (1, 0))
    k_block = tl.make_block_ptr(K + _head(zh, H, stride_kz, stride_kh), (HEAD_DIM, N_CTX),
                                (stride_kk, stride_kn), (0, 0), (HEAD_DIM, BLOCK_N), (0, 1))
    v_block = tl.make_block_ptr(V + _head(zh, H, stride_vz, stride_vh), (N_CTX, HEAD_DIM),
                                (stride_vn, stride_vk), (0, 0), (BLOCK_N, HEAD_DIM), (1, 0))
    o_block = tl.make_block_ptr(Out + _head(zh, H, stride_oz, stride_oh), (N_CTX, HEAD_DIM),
                                (stride_om, stride_on), (start, 0), (BLOCK_M, HEAD_DIM), (1, 0))
    rows = start + tl.arange(0, BLOCK_M)
    largest = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)
    q = tl.load(q_block, boundary_check=(0,), padding_option="zero")
    end = N_CTX if STAGE == 1 else tl.minimum(start + BLOCK_M, N_CTX)
    for n in range(0, end, BLOCK_N):
        n = tl.multiple_of(n, BLOCK_N)
        scores = tl.dot(q, tl.load(k_block, boundary_check=(1,), padding_option="zero")) * (sm_scale * LOG2E)
        cols = n + tl.arange(0, BLOCK_N)
        scores = tl.where(_visible(rows, cols, N_CTX, STAGE == 3) | (rows >= N_CTX)[:, None], scores, float("-inf"))
        larger = tl.maximum(largest, tl.max(scores, 1))
        p = tl.math.exp2(scores - larger[:, None])
        shrink = tl.math.exp2(largest - larger)
        total = total * shrink + tl.sum(p, 1)
        v = tl.load(v_block, boundary_check=(0,), padding_option="zero")
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        largest = larger
        k_block = tl.advance(k_block, (0, BLOCK_N))
        v_block = tl.advance(v_block, (BLOCK_N, 0))
    tl.store(M + zh * N_CTX + rows, largest + tl.math.log2(total), mask=rows < N_CTX)
    tl.store(o_block, (acc / total[:, None]).to(Out.type.element_ty), boundary_check=(0,))


@triton.jit
def attention_delta(Out, DOut, Delta, N_CTX, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr):
    """The sum of out * d_out of each row; both arrays are dense."""
    rows, zh = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M), tl.program_id(1)
    offsets = (zh.to(tl.int64) * N_CTX + rows)[:, None] * HEAD_DIM + tl.arange(0, HEAD_DIM)[None, :]
    mask = (rows < N_CTX)[:, None]
    products = tl.load(Out + offsets, mask, 0).to(tl.float32) * tl.load(DOut + offsets, mask, 0).to(tl.float32)
    tl.store(Delta + zh * N_CTX + rows, tl.sum(products, 1), mask=rows < N_CTX)


@triton.jit
def _weights(q, k, m, rows, cols, sm_scale, N_CTX, IS_CAUSAL: tl.constexpr):
    """The softmax of a block, from the logarithm that the forward kernel stored."""
    p = tl.math.exp2(tl.dot(q, tl.trans(k)) * (sm_scale * LOG2E) - m[:, None])
    return tl.where(_visible(rows, cols, N_CTX, IS_CAUSAL), p, 0.0)


@triton.jit
def attention_d_kv(Q, K, V, sm_scale, DOut, M, Delta, DK, DV, N_CTX,
                   HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr):
    """A program has a block of keys and iterates over the queries that attend to it."""
    start, zh = tl.program_id(0) * BLOCK_N, tl.program_id(1)
    base, dims = zh.to(tl.int64) * N_CTX, tl.arange(0, HEAD_DIM)
    cols = start + tl.arange(0, BLOCK_N)
    own, in_range = (base + cols)[:, None] * HEAD_DIM + dims[None, :], (cols < N_CTX)[:, None]
    k, v = tl.load(K + own, in_range, 0), tl.load(V + own, in_range, 0)
    d_k = tl.zeros([BLOCK_N, HEAD_DIM], tl.float32)
    d_v = tl.zeros([BLOCK_N, HEAD_DIM], tl.float32)
    first = 0 if STAGE == 1 else start // BLOCK_M * BLOCK_M
    for m in range(first, N_CTX, BLOCK_M):
        rows = m + tl.arange(0, BLOCK_M)
        offsets, mask = (base + rows)[:, None] * HEAD_DIM + dims[None, :], (rows < N_CTX)[:, None]
        q, d_out = tl.load(Q + offsets, mask, 0), tl.load(DOut + offsets, mask, 0)
        log_sum = tl.load(M + base + rows, rows < N_CTX, 0)
        delta = tl.load(Delta + base + rows, rows < N_CTX, 0)
        p = _weights(q, k, log_sum, rows, cols, sm_scale, N_CTX, STAGE == 3)
        d_v = tl.dot(tl.trans(p.to(d_out.dtype)), d_out, d_v)
        d_s = p * (tl.dot(d_out, tl.trans(v)) - delta[:, None])
        d_k = tl.dot(tl.trans(d_s.to(q.dtype)), q, d_k)
    tl.store(DK + own, (d_k * sm_scale).to(DK.type.element_ty), in_range)
    tl.store(DV + own, d_v.to(DV.type.element_ty), in_range)


@triton.jit
def attention_d_q(Q, K, V, sm_scale, DOut, M, Delta, DQ, N_CTX,
                  HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr):
    """A program has a block of queries and iterates over the keys that it attends to."""
    start, zh = tl.program_id(0) * BLOCK_M, tl.program_id(1)
    base, dims = zh.to(tl.int64) * N_CTX, tl.arange(0, HEAD_DIM)
    rows = start + tl.arange(0, BLOCK_M)
    own, in_range = (base + rows)[:, None] * HEAD_DIM + dims[None, :], (rows < N_CTX)[:, None]
    q, d_out = tl.load(Q + own, in_range, 0), tl.load(DOut + own, in_range, 0)
    log_sum = tl.load(M + base + rows, rows < N_CTX, 0)
    delta = tl.load(Delta + base + rows, rows < N_CTX, 0)
    d_q = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)
    end = N_CTX if STAGE == 1 else tl.minimum(start + BLOCK_M, N_CTX)
    for n in range(0, end, BLOCK_N):
        cols = n + tl.arange(0, BLOCK_N)
        offsets, mask = (base + cols)[:, None] * HEAD_DIM + dims[None, :], (cols < N_CTX)[:, None]
        k, v = tl.load(K + offsets, mask, 0), tl.load(V + offsets, mask, 0)
        p = _weights(q, k, log_sum, rows, cols, sm_scale, N_CTX, STAGE == 3)
        d_s = p * (tl.dot(d_out, tl.trans(v)) - delta[:, None])
        d_q = tl.dot(d_s.to(k.dtype), k, d_q)
    tl.store(DQ + own, (d_q * sm_scale).to(DQ.type.element_ty), in_range)
