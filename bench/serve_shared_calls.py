"""The calls of one request that all models share: quantised matmuls, caches, steps' parameters and
sampling.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import torch
from serve_calls import Batch, Call, copy_kv
from serve_engine import load

KERNELS = "common.basemodel.triton_kernel."
BF16, FP8 = torch.bfloat16, torch.float8_e4m3fn


def quantised(b: Batch) -> Iterator[Call]:
    quant = "common.quantization.triton_quant.fp8."
    m, n, k = b.tokens, 256, 256
    x = b.normal(m, k, dtype=BF16)
    codes, scales = b.zeros(m, k).to(FP8), b.zeros(m, k // 128, dtype=torch.float32)
    act = load(quant + "fp8act_quant_kernel")
    act.ceil_div = lambda x, y: -(-x // y)  # of deep_gemm, which needs a GPU
    yield Call("fp8.quantise", lambda: act.per_token_group_quant_fp8(x, 128, codes, scales))
    yield Call("fp8.align_scales", lambda: act.tma_align_input_scale(scales))
    weights = load(quant + "fp8w8a8_block_quant_kernel")
    weight = b.normal(n, k, dtype=BF16)
    yield Call("fp8.quantise_weights", lambda: weights.mm_weight_quant(weight, 128))
    gemm = load(quant + "fp8w8a8_block_gemm_kernel").w8a8_block_fp8_matmul
    wq, ws, out = weight.to(FP8).t(), b.uniform(k // 128, n // 128), b.zeros(m, n, dtype=BF16)
    tile = dict(BLOCK_M=64, BLOCK_N=64, BLOCK_K=64, GROUP_M=8, num_warps=4, num_stages=2)
    yield Call(
        "fp8.block_matmul", lambda: gemm(codes, wq, scales, ws, out, (128, 128), BF16, **tile)
    )
    bmm = load(KERNELS + "bmm_scaled_fp8").bmm_scaled_fp8
    a3, b3 = b.normal(2, m, 128).to(FP8), b.normal(2, n, 128).to(FP8).transpose(1, 2)
    sa, sb = b.uniform(2, m, 1, dtype=BF16), b.uniform(2, n, 1, dtype=BF16)
    c3 = b.zeros(2, m, n, dtype=BF16)
    sizes = dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=64, GROUP_SIZE_M=8)
    yield Call("fp8.bmm", lambda: bmm(a3, sa, b3, sb, c3, **sizes, num_stages=2, num_warps=4))


def autotuned(b: Batch) -> Iterator[Call]:
    """Kernels that the engine tunes by lists of configurations of its own."""
    m, n, k = b.tokens, 256, 256
    x = b.normal(m, k)
    int8 = load(KERNELS + "dequantize_gemm_int8")
    w8, s8 = b.integers(127, k, n, dtype=torch.int8), b.uniform(n, dtype=torch.float16) / 127
    out = b.zeros(m, n)
    yield Call(
        "int8.dequantise_matmul",
        lambda: int8.matmul_dequantize_int8(x, w8, s8, out),
        lambda: (out, x.double() @ (w8.double() * s8.double())),
    )
    both = load(KERNELS + "quantize_gemm_int8")
    yield Call("int8.quantise_matmul", lambda: both.matmul_quantize_int8(x, w8, s8))
    int4, group = load(KERNELS + "dequantize_gemm_int4"), 128
    w4 = b.integers(1 << 30, k // 8, n)
    s4 = b.uniform(k // group, n, dtype=torch.float16) / 16
    zeros = b.integers(1 << 30, k // group, n // 8)
    for name in ("s1", "s2", "gptq"):
        function = getattr(int4, f"matmul_dequantize_int4_{name}")
        yield Call(f"int4.matmul_{name}", lambda f=function: f(x, w4, s4, zeros, group))


def caches(b: Batch) -> Iterator[Call]:
    k = b.normal(b.tokens, b.kv_heads, b.dim)
    yield from copy_kv(b, "shared", KERNELS + "destindex_copy_kv", k)
    source, target = b.normal(b.slots, b.kv_heads, b.dim), b.zeros(b.slots, b.kv_heads, b.dim)
    moved = torch.arange(b.tokens, device=b.device)
    first = load("common.kv_trans_kernel.kv_trans")
    yield Call("kv.move", lambda: first.kv_trans(source, moved, target, moved))
    second = load("common.kv_trans_kernel.kv_trans_v2")
    owner = torch.zeros_like(moved)
    sources = b.ints([source.data_ptr()], torch.int64).view(torch.uint64)
    targets = b.ints([target.data_ptr()], torch.int64).view(torch.uint64)
    yield Call(
        "kv.move_from_prefill",
        lambda: second.kv_trans_v2_for_p_node(sources, moved, owner, target, moved, 1),
    )
    yield Call(
        "kv.move_to_decode",
        lambda: second.kv_trans_v2_for_d_node(targets, moved, owner, source, moved, 1),
    )
    index = load(KERNELS + "copy_kv_index_to_req")
    table, new = b.req_to_tokens.clone(), b.ints([1, 2])
    yield Call(
        "kv.index_to_request",
        lambda: index.copy_kv_index_to_req(table, b.req_idx, b.seq_len, new),
    )
    copy, into = load("utils.custom_kernel_utis"), torch.zeros_like(k)
    yield Call("shared.copy_3dim", lambda: copy.tensor_copy_3dim(into, k))


def steps(b: Batch) -> Iterator[Call]:
    """Positions, embeddings and the residual of a step."""
    prefill = load(KERNELS + "gen_prefill_params")
    yield Call(
        "step.prefill_params",
        lambda: prefill.gen_prefill_params(b.tokens, b.no_cache, b.seq_len),
    )
    mtp, ids = load(KERNELS + "gen_mtp_prefill_params"), b.integers(b.vocab, b.tokens)
    yield Call(
        "step.mtp_input_ids",
        lambda: mtp.gen_mtp_new_input_ids(ids, b.ints([3, 4]), b.seq_len),
    )
    x, out = b.normal(b.tokens, b.hidden), b.zeros(b.tokens, b.hidden)
    add, zero = load(KERNELS + "add_in_place"), torch.zeros_like(x)
    yield Call("step.add_in_place", lambda: add.add_in_place(x, zero))
    pad = load(KERNELS + "sp_pad_copy")
    yield Call("step.pad_copy", lambda: pad.sp_pad_copy(x, 1, 4))
    images = load(KERNELS + "multimodal_emb")
    table, pictures = b.normal(b.vocab, b.hidden), b.normal(8, b.hidden)
    sizes, first, where = (b.ints(v, torch.int64) for v in ([4], [600], [0]))
    prompt = ids.long()
    yield Call(
        "step.multimodal_embedding",
        lambda: images.multimodal_emb(
            out, prompt, table, pictures, sizes, first, where, 0, b.vocab
        ),
    )
    yield Call("step.mark_multimodal", lambda: images.mark_multimodal_obj(first, sizes, prompt))


def sampling(b: Batch) -> Iterator[Call]:
    logits = b.normal(b.size, b.vocab, dtype=torch.float32)
    manager = SimpleNamespace(
        vocab_size=b.vocab,
        req_to_out_token_id_counter=b.integers(3, b.size, b.vocab),
        **{
            f"req_to_{name}": b.uniform(b.size) + 1
            for name in (
                "presence_penalty",
                "frequency_penalty",
                "repetition_penalty",
                "temperature",
                "exponential_decay_length_penalty",
            )
        },
    )
    length, eos = b.ints([1, 2]), b.ints([2])
    mask = torch.zeros(b.size, dtype=torch.bool, device=b.device)
    cached, plain = load(KERNELS + "apply_penalty_gpu_cache"), load(KERNELS + "apply_penalty")
    yield Call(
        "sampling.penalty_of_counters",
        lambda: cached.apply_penalty_gpu_cache(
            logits.clone(), b.req_idx, length, mask, eos, manager
        ),
    )
    ids, counts, ends = b.ints([5, 7, 9]), b.ints([1, 2, 1]), b.ints([0, 2, 3])
    yield Call(
        "sampling.penalty",
        lambda: plain.apply_penalty(
            logits.clone(), b.req_idx, length, mask, ids, counts, ends, eos, manager
        ),
    )
    params = load(KERNELS + "gen_sampling_params")
    yield Call("sampling.params", lambda: params.gen_sampling_params(b.req_idx, manager))
    counter, prompt = b.zeros(b.vocab, dtype=torch.int32), b.integers(b.vocab, b.tokens)
    yield Call("sampling.count_tokens", lambda: params.token_id_counter(prompt, counter))
    counters, chosen = b.zeros(b.size, b.vocab, dtype=torch.int32), b.ints([3, 4])
    yield Call(
        "sampling.count_chosen",
        lambda: params.update_req_to_token_id_counter(b.req_idx, chosen, counters),
    )
