"""The calls of one request: the engine's functions with the tensors of a small model.

A request is a prefill of two prompts, a decoding step of both and what surrounds them (embedding,
norms, rotary embedding, caches, experts, sampling), for each family of models that has kernels of
its own.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from serve_engine import load


class Call(NamedTuple):
    name: str
    run: Callable[[], Any]
    expected: Callable[[], tuple[torch.Tensor, torch.Tensor]] | None = None  # result, reference


class Batch:
    """Two sequences, their cache of keys and values, and small weights."""

    heads, kv_heads, dim, hidden, vocab = 4, 2, 64, 256, 512
    lengths = (32, 19)

    def __init__(self, device: str) -> None:
        self.device = device
        self.random = torch.Generator(device=device).manual_seed(41)
        self.size = len(self.lengths)
        self.longest = max(self.lengths)
        self.tokens = sum(self.lengths)
        self.slots = 2 * self.size * self.longest
        self.req_idx = self.ints(list(range(self.size)))
        self.seq_len = self.ints(list(self.lengths))
        self.start = self.ints([0, self.lengths[0]])
        self.no_cache = self.ints([0] * self.size)
        table = torch.randperm(self.slots, generator=self.random, device=device)
        self.req_to_tokens = table.to(torch.int32).view(self.size, -1).contiguous()
        rows = [self.req_to_tokens[i, :n] for i, n in enumerate(self.lengths)]
        self.token_slots = torch.cat(rows).contiguous()
        self.q = self.normal(self.tokens, self.heads, self.dim)
        self.k = self.normal(self.slots, self.kv_heads, self.dim)
        self.v = self.normal(self.slots, self.kv_heads, self.dim)
        self.q1 = self.normal(self.size, self.heads, self.dim)
        self.cos = self.normal(self.tokens, self.dim // 2)
        self.sin = self.normal(self.tokens, self.dim // 2)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
        values = torch.randn(*shape, generator=self.random, device=self.device) * 0.5
        return values.to(dtype)

    def uniform(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.rand(*shape, generator=self.random, device=self.device).to(dtype)

    def integers(self, high: int, *shape: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
        values = torch.randint(0, high, shape, generator=self.random, device=self.device)
        return values.to(dtype)

    def ints(self, values: Any, dtype: torch.dtype = torch.int32) -> torch.Tensor:
        return torch.tensor(values, dtype=dtype, device=self.device)

    def zeros(self, *shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
        return torch.zeros(*shape, dtype=dtype, device=self.device)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal attention of the last rows of a sequence, [rows, heads, dim], in double precision."""
    groups = q.shape[1] // k.shape[1]
    k, v = (x.double().repeat_interleave(groups, 1).transpose(0, 1) for x in (k, v))
    scores = q.double().transpose(0, 1) @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    rows, columns = scores.shape[1:]
    seen = torch.ones(rows, columns, device=q.device).tril(columns - rows).bool()
    return (scores.masked_fill(~seen, -torch.inf).softmax(-1) @ v).transpose(0, 1)


def prefill_attention(b: Batch, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """What prefill gives for `b.q` and a cache that holds the sequences."""
    parts, queries = [], b.q.split(list(b.lengths))
    for i, q in enumerate(queries):
        slots = b.req_to_tokens[i, : b.lengths[i]].long()
        parts.append(attention(q, k[slots], v[slots]))
    return torch.cat(parts)


def decode_attention(b: Batch) -> torch.Tensor:
    """What a decoding step gives for `b.q1` and the cache."""
    slots = [b.req_to_tokens[i, :n].long() for i, n in enumerate(b.lengths)]
    return torch.cat([attention(b.q1[i : i + 1], b.k[s], b.v[s]) for i, s in enumerate(slots)])


def llama_prefill(b: Batch) -> Iterator[Call]:
    kernels = "models.llama.triton_kernel."
    o, cached_o = (b.zeros(b.tokens, b.heads, b.dim) for _ in range(2))
    m = load(kernels + "context_flashattention_nopad")
    k, v = b.normal(b.tokens, b.kv_heads, b.dim), b.normal(b.tokens, b.kv_heads, b.dim)
    dense = b.normal(2, b.size, b.kv_heads, b.longest, b.dim)
    yield Call(
        "llama.context_attention",
        lambda: m.context_attention_fwd(
            b.q,
            b.k,
            b.v,
            cached_o,
            b.req_idx,
            b.start,
            b.seq_len,
            b.no_cache,
            b.longest,
            b.req_to_tokens,
        ),
        lambda: (cached_o, prefill_attention(b, b.k, b.v)),
    )
    yield Call(
        "llama.context_attention_no_prompt_cache",
        lambda: m.context_attention_fwd_no_prompt_cache(
            b.q, k, v, o, b.start, b.seq_len, b.longest
        ),
    )
    yield Call(
        "llama.context_attention_int8kv",
        lambda: m.context_attention_fwd_ppl_int8kv(
            b.q, dense[0], dense[1], o, b.start, b.seq_len, b.longest, b.no_cache
        ),
    )
    x, weight = b.normal(b.tokens, b.hidden), b.normal(b.hidden)
    norm = load(kernels + "rmsnorm")
    normed = torch.empty_like(x)
    yield Call(
        "llama.rmsnorm",
        lambda: norm.rmsnorm_forward(x, weight, 1e-5, normed),
        lambda: (normed, torch.rms_norm(x.double(), x.shape[1:], weight.double(), 1e-5)),
    )
    rotary = load(kernels + "rotary_emb")
    yield Call("llama.rotary", lambda: rotary.rotary_emb_fwd(b.q.clone(), k.clone(), b.cos, b.sin))
    gated, half = b.normal(b.tokens, 2 * b.hidden), b.zeros(b.tokens, b.hidden)
    silu = load(kernels + "silu_and_mul")
    silu_out = torch.empty_like(half)
    left, right = gated.double().chunk(2, -1)
    yield Call(
        "llama.silu_and_mul",
        lambda: silu.silu_and_mul_fwd(gated, silu_out),
        lambda: (silu_out, torch.nn.functional.silu(left) * right),
    )
    gelu = load("models.gemma_2b.triton_kernel.gelu_and_mul")
    yield Call("gemma.gelu_and_mul", lambda: gelu.gelu_and_mul_fwd(gated, half))
    ids, table = b.integers(b.vocab, b.tokens), b.normal(b.vocab, b.hidden)
    embedding, out = load(kernels + "embedding"), b.zeros(b.tokens, b.hidden)
    yield Call(
        "llama.embedding",
        lambda: embedding.embedding(ids, table, 0, b.vocab, out),
        lambda: (out, table[ids.long()]),
    )
    quant = load(kernels + "ppl_quant_copy_kv")
    codes = b.zeros(b.slots, b.kv_heads, b.dim, dtype=torch.int8)
    scales = b.zeros(b.slots, b.kv_heads, b.dim // 8)
    yield Call(
        "llama.copy_quantize_kv",
        lambda: quant.destindex_copy_quantize_kv(k, b.token_slots, codes, scales),
    )
    back = b.zeros(b.size, b.kv_heads, b.longest, b.dim)
    yield Call(
        "llama.copy_dequantize_kv",
        lambda: quant.destindex_copy_dequantize_kv(
            codes, scales, b.req_to_tokens, b.seq_len, b.req_idx, b.longest, back
        ),
    )


def llama_decode(b: Batch) -> Iterator[Call]:
    kernels = "models.llama.triton_kernel."
    logits = b.zeros(b.heads, b.tokens)
    prob, o = b.zeros(b.heads, b.tokens), b.zeros(b.size, b.heads, b.dim)
    where = (b.req_to_tokens, b.req_idx, b.start, b.seq_len)
    k8 = b.integers(100, b.slots, b.kv_heads, b.dim, dtype=torch.int8)
    scale = b.uniform(b.slots, b.kv_heads, 1, dtype=torch.float16)
    att1, att2 = (
        load(kernels + "token_attention_nopad_att1"),
        load(kernels + "token_attention_nopad_reduceV"),
    )
    soft = load(kernels + "token_attention_nopad_softmax")
    both = load(kernels + "token_attention_softmax_and_reducev")
    yield Call(
        "llama.token_att_int8k",
        lambda: att1.token_att_fwd_int8k(b.q1, k8, scale, logits, *where, b.longest),
    )
    yield Call("llama.token_att", lambda: att1.token_att_fwd(b.q1, b.k, logits, *where, b.longest))
    yield Call(
        "llama.token_softmax",
        lambda: soft.token_softmax_fwd(logits, b.start, b.seq_len, prob, b.longest),
    )
    yield Call(
        "llama.token_att2_int8v",
        lambda: att2.token_att_fwd2_int8v(prob, k8, scale, o, *where, b.longest),
    )
    yield Call("llama.token_att2", lambda: att2.token_att_fwd2(prob, b.v, o, *where))
    yield Call(
        "llama.softmax_reducev",
        lambda: both.token_softmax_reducev_fwd(
            logits, b.v, o, b.req_to_tokens, b.req_idx, b.start, b.seq_len
        ),
    )
    gqa_o, vsm_o = torch.empty_like(o), torch.empty_like(o)
    gqa = load(kernels + "gqa_decode_flashattention_nopad")
    yield Call(
        "llama.gqa_decode",
        lambda: gqa.gqa_decode_attention_fwd(
            b.q1, b.k, b.v, gqa_o, b.req_to_tokens, b.req_idx, b.seq_len
        ),
        lambda: (gqa_o, decode_attention(b)),
    )
    for family, prefix in (("llama", ""), ("llama", "gqa_"), ("phi3", "")):
        yield from flash_decoding(b, family, prefix)
    vsm = load(kernels + "gqa_flash_decoding_vsm")
    config = dict(
        BLOCK_N=16,
        BLOCK_Q_HEAD=16,
        stage1_num_warps=4,
        stage1_num_stages=2,
        stage2_num_warps=4,
        stage2_num_stages=1,
    )
    yield Call(
        "llama.gqa_flash_decoding_vsm",
        lambda: vsm.gqa_token_decode_attention_flash_decoding_vsm(
            b.q1, b.k, b.v, infer_state(b), out=vsm_o, **config
        ),
    )


def infer_state(b: Batch) -> SimpleNamespace:
    """What the engine's functions read of its state of a step."""
    return SimpleNamespace(
        batch_size=b.size,
        max_len_in_batch=b.longest,
        total_token_num=b.tokens,
        req_manager=SimpleNamespace(req_to_token_indexs=b.req_to_tokens),
        b_req_idx=b.req_idx,
        b_seq_len=b.seq_len,
    )


def flash_decoding(b: Batch, family: str, prefix: str) -> Iterator[Call]:
    kernels = f"models.{family}.triton_kernel.{prefix}flash_decoding_stage"
    first, second = load(kernels + "1"), load(kernels + "2")
    block = 32
    chunks = -(-b.longest // block)
    mid = b.zeros(b.size, b.heads, chunks, b.dim, dtype=torch.float32)
    sums = b.zeros(b.size, b.heads, chunks, dtype=torch.float32)
    o = b.zeros(b.size, b.heads, b.dim)
    yield Call(
        f"{family}.{prefix}flash_decode_stage1",
        lambda: first.flash_decode_stage1(
            b.q1, b.k, b.v, b.req_to_tokens, b.req_idx, b.seq_len, b.longest, mid, sums, block
        ),
    )
    yield Call(
        f"{family}.{prefix}flash_decode_stage2",
        lambda: second.flash_decode_stage2(mid, sums, b.seq_len, o, block),
    )


def bloom(b: Batch) -> Iterator[Call]:
    kernels = "models.bloom.triton_kernel."
    alibi = b.uniform(b.heads)
    k, v = (b.normal(b.slots, b.heads, b.dim) for _ in range(2))
    o, o1 = b.zeros(b.tokens, b.heads, b.dim), b.zeros(b.size, b.heads, b.dim)
    context = load(kernels + "context_flashattention_nopad")
    yield Call(
        "bloom.context_attention",
        lambda: context.context_attention_fwd(
            b.q,
            k,
            v,
            o,
            b.req_idx,
            alibi,
            b.start,
            b.seq_len,
            b.no_cache,
            b.longest,
            b.req_to_tokens,
        ),
    )
    token = load(kernels + "token_flashattention_nopad")
    yield Call(
        "bloom.token_attention",
        lambda: token.token_attention_fwd(
            b.q1,
            k,
            v,
            o1,
            alibi,
            b.req_to_tokens,
            b.req_idx,
            b.start,
            b.seq_len,
            b.longest,
            b.tokens,
        ),
    )


def mistral(b: Batch) -> Iterator[Call]:
    kernels, window = "models.mistral.triton_kernel.", 16
    lengths = b.zeros(b.size, dtype=torch.int32)
    info = load(kernels + "init_att_sliding_window_info")
    yield Call(
        "mistral.window_info",
        lambda: info.init_att_window_info_fwd(b.size, b.seq_len, lengths, window),
    )
    k, v = b.normal(b.tokens, b.kv_heads, b.dim), b.normal(b.tokens, b.kv_heads, b.dim)
    o, o1 = b.zeros(b.tokens, b.heads, b.dim), b.zeros(b.size, b.heads, b.dim)
    context = load(kernels + "context_flashattention_nopad")
    yield Call(
        "mistral.context_attention",
        lambda: context.context_attention_fwd(b.q, k, v, o, b.start, b.seq_len, b.longest, window),
    )
    starts = b.ints([0, window])
    where = (b.req_to_tokens, b.req_idx, b.start, b.seq_len, starts, lengths, window)
    logits = b.zeros(b.heads, b.size * window)
    att1 = load(kernels + "token_attention_nopad_att1")
    both = load(kernels + "token_attention_softmax_and_reducev")
    yield Call("mistral.token_att", lambda: att1.token_att_fwd(b.q1, b.k, logits, *where))
    yield Call(
        "mistral.softmax_reducev", lambda: both.token_softmax_reducev_fwd(logits, b.v, o1, *where)
    )


def phi3(b: Batch) -> Iterator[Call]:
    kernels, dim = "models.phi3.triton_kernel.", 48
    q, k, v = (b.normal(b.tokens, h, dim) for h in (b.heads, b.kv_heads, b.kv_heads))
    cache = b.normal(2, b.slots, b.kv_heads, dim)
    o = b.zeros(b.tokens, b.heads, dim)
    m = load(kernels + "context_flashattention_nopad")
    yield Call(
        "phi3.context_attention",
        lambda: m.context_attention_fwd(
            q,
            cache[0],
            cache[1],
            o,
            b.req_idx,
            b.start,
            b.seq_len,
            b.no_cache,
            b.longest,
            b.req_to_tokens,
        ),
    )
    yield Call(
        "phi3.context_attention_no_prompt_cache",
        lambda: m.context_attention_fwd_no_prompt_cache(q, k, v, o, b.start, b.seq_len, b.longest),
    )
    cos, sin = b.normal(b.tokens, dim // 2), b.normal(b.tokens, dim // 2)
    rotary = load(kernels + "rotary_emb")
    yield Call("phi3.rotary", lambda: rotary.rotary_emb_fwd(q.clone(), k.clone(), cos, sin))
    yield from copy_kv(b, "phi3", kernels + "destindex_copy_kv", k)


def copy_kv(b: Batch, family: str, module: str, k: torch.Tensor) -> Iterator[Call]:
    m = load(module)
    out = b.zeros(b.slots, *k.shape[1:])
    codes = b.zeros(b.slots, *k.shape[1:], dtype=torch.int8)
    scales = b.zeros(b.slots, k.shape[1], 1)
    yield Call(f"{family}.copy_kv", lambda: m.destindex_copy_kv(k, b.token_slots, out))
    yield Call(
        f"{family}.copy_quantize_kv_rows",
        lambda: m.destindex_copy_quantize_kv(k, b.token_slots, codes, scales),
    )


def other_models(b: Batch) -> Iterator[Call]:
    x = b.normal(b.tokens, b.hidden)
    weight = b.normal(b.hidden)
    vit = "models.vit.triton_kernel."
    norm, gelu, flash = (
        load(vit + "rms_norm_vit"),
        load(vit + "gelu_vit"),
        load(vit + "flashattention_nopad"),
    )
    yield Call("vit.rms_norm", lambda: norm.rms_norm(x, weight))
    yield Call("vit.gelu", lambda: gelu.gelu_fwd(x))
    k, o = b.normal(b.tokens, b.heads, b.dim), b.zeros(b.tokens, b.heads, b.dim)
    bounds = b.ints([0, b.lengths[0], b.tokens])
    yield Call(
        "vit.attention", lambda: flash._flash_attention_triton_fwd(b.q, k, k, o, bounds, b.longest)
    )
    chatglm = load("models.chatglm2.triton_kernel.rotary_emb")
    quarter = b.normal(b.tokens, b.dim // 4)
    yield Call(
        "chatglm2.rotary", lambda: chatglm.rotary_emb_fwd(b.q.clone(), k.clone(), quarter, quarter)
    )
    cohere = "models.cohere.triton_kernels."
    rotary, layernorm = load(cohere + "rotary_emb"), load(cohere + "layernorm")
    full = b.normal(b.tokens, b.dim)
    yield Call("cohere.rotary", lambda: rotary.rotary_emb_fwd(b.q.clone(), k.clone(), full, full))
    per_head = b.normal(b.heads, b.dim)
    yield Call("cohere.layernorm", lambda: layernorm.layernorm_forward(b.q, per_head, 1e-5))
    mrope = load("models.qwen2_vl.triton_kernel.mrope")
    q4, k4 = b.normal(1, b.heads, b.tokens, b.dim), b.normal(1, b.kv_heads, b.tokens, b.dim)
    angles, axes = b.normal(3, 1, b.tokens, b.dim), b.integers(3, b.dim)
    yield Call("qwen2_vl.mrope", lambda: mrope.mrope_triton(q4, k4, angles, angles, axes))
