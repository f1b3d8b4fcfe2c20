"""Flash attention as nodes of a graph, and the same in plain torch."""
# SPDX-License-Identifier: MIT

import torch
import torch_xla
import torch_xla.experimental.triton as xla_triton
import triton
from _flash_attention import attention_d_kv, attention_d_q, attention_delta, attention_forward


def node(inputs, payload, *results):
    """Calls the node; `results` are tensors with the shapes and types of its outputs."""
    shapes, dtypes = [result.shape for result in results], [result.dtype for result in results]
    return torch_xla._XLAC._xla_gpu_custom_call(inputs, payload, shapes, dtypes)


def forward(q, k, v, scale, stage, BLOCK_M=64, BLOCK_N=32, **options):
    """(M, out)."""
    Z, H, N_CTX, HEAD_DIM = q.shape
    out, m = torch.empty_like(q), torch.empty((Z, H, N_CTX), dtype=torch.float32, device=q.device)
    strides = [extent for tensor in (q, k, v, out) for extent in tensor.stride()]
    payload = xla_triton.triton_call(
        q, k, v, scale, m, out, *strides, Z, H, N_CTX, kernel=attention_forward,
        grid=lambda meta: (triton.cdiv(N_CTX, meta["BLOCK_M"]), Z * H, 1),
        HEAD_DIM=HEAD_DIM, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, STAGE=stage, **options,
    )  # fmt: skip
    return node([q, k, v], payload, m, out)


def backward(q, k, v, scale, stage, m, out, d_out, BLOCK_M=64, BLOCK_N=32, **options):
    """(d_q, d_k, d_v)."""
    Z, H, N_CTX, HEAD_DIM = q.shape
    blocks = dict(HEAD_DIM=HEAD_DIM, BLOCK_M=BLOCK_M)
    rows, columns = (triton.cdiv(N_CTX, BLOCK_M), Z * H), (triton.cdiv(N_CTX, BLOCK_N), Z * H)
    payload = xla_triton.triton_call(out, d_out, m, N_CTX, kernel=attention_delta, grid=rows, **blocks)
    (delta,) = node([out, d_out], payload, m)
    blocks.update(BLOCK_N=BLOCK_N, STAGE=stage, **options)
    operands = [q, k, v, d_out, m, delta]
    payload = xla_triton.triton_call(
        q, k, v, scale, d_out, m, delta, k, v, N_CTX, kernel=attention_d_kv, grid=columns, **blocks
    )
    d_k, d_v = node(operands, payload, k, v)
    payload = xla_triton.triton_call(
        q, k, v, scale, d_out, m, delta, q, N_CTX, kernel=attention_d_q, grid=rows, **blocks
    )
    (d_q,) = node(operands, payload, q)
    return d_q, d_k, d_v


def reference(q, k, v, scale, stage):
    """(M, out) in float32, by torch on the CPU; differentiable."""
    scores = q.float() @ k.float().transpose(2, 3) * scale
    if stage == 3:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).tril() == 0, float("-inf"))
    log2e = 1.4426950408889634
    return torch.logsumexp(scores, -1) * log2e, torch.softmax(scores, -1) @ v.float()
