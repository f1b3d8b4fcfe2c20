"""The calls of one request to models with latent attention (DeepSeek V2 and V3), and of experts."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

from collections.abc import Iterator

import torch
from serve_calls import Batch, Call, infer_state
from serve_engine import load

KERNELS = "models.deepseek2.triton_kernel."
NOPE, ROPE, SCALE = 128, 64, 0.07
BF16, FP8 = torch.bfloat16, torch.float8_e4m3fn
DECODE = dict(
    BLOCK_N=16,
    BLOCK_Q_HEAD=16,
    stage1_num_warps=4,
    stage1_num_stages=2,
    stage2_num_warps=4,
    stage2_num_stages=1,
)


def latent_prefill(b: Batch) -> Iterator[Call]:
    q, q_rope = (b.normal(b.tokens, b.heads, d, dtype=BF16) for d in (NOPE, ROPE))
    k, v = (b.normal(b.tokens, b.heads, NOPE, dtype=BF16) for _ in range(2))
    k_rope = b.normal(b.tokens, 1, ROPE, dtype=BF16)
    o = b.zeros(b.tokens, b.heads, NOPE, dtype=BF16)
    cache = b.normal(b.slots, 1, NOPE + ROPE, dtype=BF16)
    nope, rope = cache[:, :, :NOPE], cache[:, :, NOPE:]
    table = (b.req_idx, b.start, b.seq_len, b.no_cache, b.longest, b.req_to_tokens, SCALE)
    with_v = load(KERNELS + "context_flashattention_nopad_with_v").context_attention_fwd_with_v
    yield Call(
        "deepseek2.context_attention_with_v",
        lambda: with_v(
            q, q_rope, k, k_rope, v, o, b.start, b.start, b.seq_len, b.no_cache, b.longest, SCALE
        ),
    )
    m = load(KERNELS + "context_flashattention_nopad")
    yield Call(
        "deepseek2.context_attention",
        lambda: m.context_attention_fwd(q, q_rope, nope, rope, o, *table),
    )
    dense, dense_rope = b.normal(b.tokens, 1, NOPE, dtype=BF16), k_rope
    yield Call(
        "deepseek2.context_attention_no_prompt_cache",
        lambda: m.context_attention_fwd_no_prompt_cache(
            q, q_rope, dense, dense_rope, o, b.start, b.seq_len, b.longest, SCALE
        ),
    )
    fp8 = load(KERNELS + "context_flashattention_nopad_fp8").context_attention_fwd_fp8
    codes, scales = cache.to(FP8), b.uniform(b.slots, 1, 1, dtype=BF16)
    yield Call(
        "deepseek2.context_attention_fp8",
        lambda: fp8(q, q_rope, codes[:, :, :NOPE], codes[:, :, NOPE:], scales, o, *table),
    )
    kv = b.normal(b.tokens, 1, NOPE + ROPE, dtype=BF16)
    yield from latent_cache(b, kv, cache)
    cos, sin = b.normal(b.tokens, ROPE // 2, dtype=BF16), b.normal(b.tokens, ROPE // 2, dtype=BF16)
    rotary = load(KERNELS + "rotary_emb")
    yield Call(
        "deepseek2.rotary", lambda: rotary.rotary_emb_fwd(q_rope.clone(), k_rope.clone(), cos, sin)
    )
    repeat, wide = load(KERNELS + "repeat_rope"), b.zeros(b.tokens, b.heads, ROPE, dtype=BF16)
    yield Call("deepseek2.repeat_rope", lambda: repeat.repeat_rope(wide, k_rope))
    dequant = load(KERNELS + "weight_dequant")
    weight, steps = b.normal(256, 256).to(FP8), b.uniform(2, 2)
    yield Call("deepseek2.weight_dequant", lambda: dequant.weight_dequant(weight, steps))


def latent_cache(b: Batch, kv: torch.Tensor, cache: torch.Tensor) -> Iterator[Call]:
    """Copies of new keys and values into the cache, and back."""
    copied = torch.zeros_like(cache)
    copy = load(KERNELS + "destindex_copy_kv").destindex_copy_kv
    yield Call(
        "deepseek2.copy_kv",
        lambda: copy(
            kv[:, :, :NOPE],
            kv[:, :, NOPE:],
            b.token_slots,
            copied[:, :, :NOPE],
            copied[:, :, NOPE:],
        ),
    )
    rows = b.zeros(b.slots, 1, NOPE + ROPE + 2, dtype=torch.uint8)
    fp8 = load(KERNELS + "destindex_copy_kv_fp8").destindex_copy_kv_fp8
    parts = rows[:, :, :NOPE].view(FP8), rows[:, :, NOPE:-2].view(FP8), rows[:, :, -2:].view(BF16)
    yield Call(
        "deepseek2.copy_kv_fp8",
        lambda: fp8(kv[:, :, :NOPE], kv[:, :, NOPE:], b.token_slots, *parts),
    )
    sample = load(KERNELS + "sample_kv").sample_kv
    nope, rope = (b.zeros(b.tokens, 1, d, dtype=BF16) for d in (NOPE, ROPE))
    yield Call(
        "deepseek2.sample_kv",
        lambda: sample(
            cache, nope, rope, b.req_idx, b.longest, b.seq_len, b.req_to_tokens, b.start
        ),
    )
    repack, index = load(KERNELS + "repack_kv_index"), b.zeros(b.tokens, dtype=torch.int32)
    yield Call(
        "deepseek2.repack_kv_index",
        lambda: repack.repack_kv_index(
            b.req_to_tokens, b.req_idx, b.seq_len, b.start, b.longest, index
        ),
    )


def latent_decode(b: Batch) -> Iterator[Call]:
    heads = 16
    q, q_rope = (b.normal(b.size, heads, d, dtype=BF16) for d in (NOPE, ROPE))
    o = b.zeros(b.size, heads, NOPE, dtype=BF16)
    cache = b.normal(b.slots, 1, NOPE + ROPE, dtype=BF16)
    codes, scales = cache.to(FP8), b.uniform(b.slots, 1, 1, dtype=BF16)
    shape = (heads, NOPE, ROPE, NOPE, SCALE)
    for late in ("stage1", "stage1_fp8", "stage2"):  # imported by the first call
        load(f"{KERNELS}gqa_flash_decoding_{late}")
    plain = load(KERNELS + "gqa_flash_decoding").gqa_token_decode_attention_flash_decoding
    yield Call(
        "deepseek2.flash_decoding",
        lambda: plain(
            q, q_rope, cache[:, :, :NOPE], cache[:, :, NOPE:], infer_state(b), *shape, o, **DECODE
        ),
        lambda: (o, latent_attention(b, q, q_rope, cache)),
    )
    fp8 = load(KERNELS + "gqa_flash_decoding_fp8").gqa_token_decode_attention_flash_decoding_fp8
    yield Call(
        "deepseek2.flash_decoding_fp8",
        lambda: fp8(
            q,
            q_rope,
            codes[:, :, :NOPE],
            codes[:, :, NOPE:],
            scales,
            infer_state(b),
            *shape,
            torch.empty_like(o),
            **DECODE,
        ),
    )


def latent_attention(
    b: Batch, q: torch.Tensor, q_rope: torch.Tensor, cache: torch.Tensor
) -> torch.Tensor:
    """What a decoding step gives for the cache, in double precision."""
    rows, whole = [], torch.cat([q, q_rope], -1).double()
    for i, length in enumerate(b.lengths):
        kv = cache[b.req_to_tokens[i, :length].long(), 0].double()
        rows.append((whole[i] @ kv.T * SCALE).softmax(-1) @ kv[:, :NOPE])
    return torch.stack(rows)


def experts(b: Batch) -> Iterator[Call]:
    moe, count, topk = "common.fused_moe.", 8, 2
    x, gates = b.normal(b.tokens, b.hidden), b.normal(b.tokens, count, dtype=torch.float32)
    choose = load(moe + "softmax_topk").softmax_topk
    yield Call("moe.softmax_topk", lambda: choose(gates, topk, True))
    grouped = load(moe + "grouped_topk").triton_grouped_topk
    bias = b.uniform(count)
    yield Call(
        "moe.grouped_topk",
        lambda: grouped(x, gates, bias, topk, True, 4, 2, scoring_func="sigmoid"),
    )
    fused = load(moe + "grouped_fused_moe").fused_experts_impl
    w1, w2 = b.normal(count, 256, b.hidden), b.normal(count, b.hidden, 128)
    ids = b.integers(count, b.tokens, topk, dtype=torch.int64)
    weights = b.uniform(b.tokens, topk)
    result = torch.empty_like(x)
    yield Call(
        "moe.fused_experts",
        lambda: result.copy_(fused(x, w1, w2, weights, ids)),
        lambda: (result, mixture(x, w1, w2, weights, ids)),
    )
    masked = load(moe + "moe_silu_and_mul_mix_quant_ep").silu_and_mul_masked_post_quant_fwd
    rows, used = b.normal(4, 16, 512, dtype=BF16), b.ints([16, 3, 0, 9])
    codes, scales = b.zeros(4, 16, 256).to(FP8), b.zeros(4, 16, 2, dtype=torch.float32)
    yield Call("moe.silu_and_mul_quant", lambda: masked(rows, codes, scales, 128, used))
    yield from scattered_experts(b, topk)
    repair = load("common.basemodel.triton_kernel.redundancy_topk_ids_repair")
    spare, counter = b.ints([1], torch.int64), b.zeros(count + 4, dtype=torch.int64)
    yield Call(
        "moe.redundancy_repair",
        lambda: repair.redundancy_topk_ids_repair(ids.clone(), spare, 4, 0, counter, True),
    )
    yield Call("moe.expert_counter", lambda: repair.expert_id_counter(ids, counter))


def mixture(
    x: torch.Tensor, w1: torch.Tensor, w2: torch.Tensor, weights: torch.Tensor, ids: torch.Tensor
) -> torch.Tensor:
    """The weighted sum of each token's experts, in double precision."""
    gate, up = torch.einsum("td,tknd->tkn", x.double(), w1.double()[ids]).chunk(2, -1)
    inner = torch.nn.functional.silu(gate) * up
    outer = torch.einsum("tkn,tkdn->tkd", inner, w2.double()[ids])
    return (outer * weights.double()[..., None]).sum(1)


def scattered_experts(b: Batch, topk: int) -> Iterator[Call]:
    m = load("common.fused_moe.deepep_scatter_gather")
    count, tokens, hidden = 4, 16, 1024
    padded = count * 128
    x, scale = b.normal(tokens, hidden).to(FP8), b.uniform(tokens, hidden // 128)
    ids, weights = b.integers(count, tokens, topk), b.uniform(tokens, topk)
    per_expert, starts = b.ints([128] * count), b.zeros(count, dtype=torch.int32)
    out, out_scale = b.zeros(padded, hidden).to(FP8), b.zeros(padded, 8, dtype=torch.float32)
    expert_of, index = b.zeros(padded, dtype=torch.int32), b.zeros(tokens, topk, dtype=torch.int32)
    yield Call(
        "moe.ep_scatter",
        lambda: m.ep_scatter(x, scale, ids, per_expert, starts, out, out_scale, expert_of, index),
    )
    rows, gathered = b.normal(padded, hidden, dtype=BF16), b.zeros(tokens, hidden, dtype=BF16)
    yield Call("moe.ep_gather", lambda: m.ep_gather(rows, ids, weights, index, gathered))
