"""fla-core: linear attention, gated and delta rules, recurrent networks, and their fused modules."""
# SPDX-License-Identifier: MIT

import torch
import torch.nn.functional as F
from cases import bf16, case, f16, f32, integers, normal, on_device, same
from fla import modules, ops

LOOSE = {f32: 1e-2, f16: 1.5e-2, bf16: 4e-2}


def qkv(batch=1, length=70, heads=2, key=32, value=32, dtype=f32):
    shapes = [(batch, length, heads, width) for width in (key, key, value)]
    return [normal(*shape, dtype=dtype, scale=0.5) for shape in shapes]


def decay(*shape, scale=0.1, dtype=f32):
    """Logarithms of forget gates."""
    return (F.logsigmoid(normal(*shape, grad=False)) * scale).to(dtype).detach().requires_grad_()


def share(*shape, dtype=f32):
    return normal(*shape, grad=False).sigmoid().to(dtype).detach().requires_grad_()


def unit(x):
    return F.normalize(x.detach().float(), dim=-1).to(x.dtype).requires_grad_()


def causal(q, k, gates=None):
    """Scores of every pair of positions, in (batch, head, query, key), with the decay between them."""
    scores = torch.einsum("bthd,bshd->bhts", q, k)
    if gates is not None:
        total = gates.cumsum(1).transpose(1, 2)
        scores = scores * (total[..., :, None] - total[..., None, :]).tril().exp()
    return scores.tril()


def mix(scores, v):
    return torch.einsum("bhts,bshd->bthd", scores, v)


def delta(q, k, v, beta, g=None, scale=None):
    """The (gated) delta rule, step by step."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    state = torch.zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3])
    results = []
    for t in range(q.shape[1]):
        if g is not None:
            gate = g[:, t].exp()
            state = state * (gate[..., None] if gate.dim() == 3 else gate[..., None, None])
        error = v[:, t] - torch.einsum("bhk,bhkv->bhv", k[:, t], state)
        state = state + torch.einsum("bhk,bhv->bhkv", k[:, t], error * beta[:, t][..., None])
        results.append(torch.einsum("bhk,bhkv->bhv", q[:, t] * scale, state))
    return torch.stack(results, 1), state


def gated(q, k, v, g, scale=None):
    """Gated linear attention with a gate for each key, step by step."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    state = torch.zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3])
    results = []
    for t in range(q.shape[1]):
        state = state * g[:, t].exp()[..., None] + torch.einsum("bhk,bhv->bhkv", k[:, t], v[:, t])
        results.append(torch.einsum("bhk,bhkv->bhv", q[:, t] * scale, state))
    return torch.stack(results, 1), state


@case(kind=["chunk", "fused_chunk", "fused_recurrent"], length=[64, 131], dtype=[f32, bf16])
def linear_attn(kind, length, dtype):
    function = getattr(ops, f"{kind}_linear_attn")
    same(
        lambda q, k, v: function(q, k, v, normalize=False)[0],
        lambda q, k, v: mix(causal(q, k) * q.shape[-1] ** -0.5, v),
        qkv(length=length, dtype=dtype),
        LOOSE[dtype],
    )


@case(kind=["chunk", "fused_recurrent"], length=[64, 83], dtype=[f32, bf16])
def gla(kind, length, dtype):
    function = getattr(ops, f"{kind}_gla")
    inputs = [*qkv(length=length, dtype=dtype), decay(1, length, 2, 32, dtype=dtype)]
    if kind == "fused_recurrent":
        reference = lambda q, k, v, g: gated(q, k, v, g)  # noqa: E731
        same(
            lambda q, k, v, g: function(q, k, v, g, output_final_state=True),
            reference,
            inputs,
            LOOSE[dtype],
        )
    else:
        reference = lambda q, k, v, g: gated(q, k, v, g)[0]  # noqa: E731
        same(lambda q, k, v, g: function(q, k, v, g)[0], reference, inputs, LOOSE[dtype])


@case(kind=["chunk", "parallel", "fused_recurrent"], length=[64, 150], dtype=[f32, f16])
def simple_gla(kind, length, dtype):
    function = getattr(ops, f"{kind}_simple_gla")
    same(
        lambda q, k, v, g: function(q, k, v, g=g)[0],
        lambda q, k, v, g: mix(causal(q, k, g) * q.shape[-1] ** -0.5, v),
        [*qkv(length=length, dtype=dtype, key=64), decay(1, length, 2, dtype=f32)],
        LOOSE[dtype],
    )


@case(kind=["chunk", "parallel", "fused_recurrent"], dtype=[f32, bf16])
def retention(kind, dtype):
    function = getattr(ops, f"{kind}_retention")

    def reference(q, k, v):
        steps = torch.log1p(-(2.0 ** (-5 - torch.arange(q.shape[2]))))
        return mix(causal(q, k, steps.expand(q.shape[:3])) * q.shape[-1] ** -0.5, v)

    same(
        lambda q, k, v: function(q, k, v)[0], reference, qkv(length=100, dtype=dtype), LOOSE[dtype]
    )


@case(kind=["chunk", "fused_recurrent"], length=[64, 75], dtype=[f16, bf16])
def delta_rule(kind, length, dtype):
    function = getattr(ops, f"{kind}_delta_rule")
    q, k, v = qkv(length=length, dtype=dtype)
    same(
        lambda q, k, v, beta: function(q, k, v, beta)[0],
        lambda q, k, v, beta: delta(q, k, v, beta)[0],
        [q, unit(k), v, share(1, length, 2, dtype=dtype)],
        LOOSE[dtype],
    )


@case(kind=["chunk", "fused_recurrent"], length=[64, 75], dtype=[f16, bf16])
def gated_delta_rule(kind, length, dtype):
    function = getattr(ops, f"{kind}_gated_delta_rule")
    q, k, v = qkv(length=length, dtype=dtype, value=64)
    same(
        lambda q, k, v, beta, g: function(q, k, v, g=g, beta=beta, output_final_state=True),
        lambda q, k, v, beta, g: delta(q, k, v, beta, g),
        [q, unit(k), v, share(1, length, 2, dtype=dtype), decay(1, length, 2)],
        LOOSE[dtype],
        backward=kind == "chunk",
    )


@case(kind=["chunk", "fused_recurrent"], dtype=[bf16])
def kda(kind, dtype):
    function = getattr(ops, f"{kind}_kda")
    q, k, v = qkv(length=70, dtype=dtype)
    same(
        lambda q, k, v, beta, g: function(q, k, v, g=g, beta=beta)[0],
        lambda q, k, v, beta, g: delta(q, k, v, beta, g)[0],
        [q, unit(k), v, share(1, 70, 2, dtype=dtype), decay(1, 70, 2, 32, dtype=dtype)],
        LOOSE[dtype],
        backward=kind == "chunk",
    )


@case(length=[16, 77], dtype=[f32])
def hgrn(length, dtype):
    def reference(x, g):
        state, results = torch.zeros(x.shape[0], x.shape[2]), []
        for t in range(length):
            state = state * g[:, t].exp() + x[:, t]
            results.append(state)
        return torch.stack(results, 1)

    same(
        lambda x, g: ops.fused_recurrent_hgrn(x, g)[0],
        reference,
        [normal(2, length, 100, dtype=dtype), decay(2, length, 100)],
    )


@case(heads=[(2, 2), (4, 2)], length=[64, 110], window=[None, 32], dtype=[f16])
def attention(heads, length, window, dtype):
    def reference(q, k, v):
        k, v = (x.repeat_interleave(heads[0] // heads[1], 2) for x in (k, v))
        scores = torch.einsum("bthd,bshd->bhts", q, k) * q.shape[-1] ** -0.5
        seen = torch.ones(length, length).tril().bool()
        if window is not None:
            seen &= ~torch.ones(length, length).tril(-window).bool()
        return mix(scores.masked_fill(~seen, float("-inf")).softmax(-1), v)

    q, _, _ = qkv(length=length, heads=heads[0], key=64, dtype=dtype)
    _, k, v = qkv(length=length, heads=heads[1], key=64, value=64, dtype=dtype)
    same(
        lambda q, k, v: ops.parallel_attn(q, k, v, window_size=window),
        reference,
        [q, k, v],
        LOOSE[dtype],
    )


@case(length=[64, 90], dtype=[f16])
def forgetting_attention(length, dtype):
    def reference(q, k, v, g):
        scores = torch.einsum("bthd,bshd->bhts", q, k) * q.shape[-1] ** -0.5
        total = g.cumsum(1).transpose(1, 2)
        scores = scores + total[..., :, None] - total[..., None, :]
        return mix(
            scores.masked_fill(~torch.ones(length, length).tril().bool(), float("-inf")).softmax(
                -1
            ),
            v,
        )

    inputs = [*qkv(length=length, key=64, value=64, dtype=dtype), decay(1, length, 2)]
    same(
        lambda q, k, v, g: ops.parallel_forgetting_attn(q, k, v, g), reference, inputs, LOOSE[dtype]
    )


@case(selected=[1, 2], dtype=[f16])
def native_sparse_attention(selected, dtype):
    """Only the selection of key blocks, with 16 query heads per key head."""
    length, block = 64, 32

    def reference(q, k, v):
        at = torch.arange(length)
        chosen = torch.zeros(length, length, dtype=torch.bool)
        for t in range(length):
            for index in blocks[0, t, 0].tolist():
                chosen[t, index * block : (index + 1) * block] = True
        seen = chosen & (at[None, :] <= at[:, None])
        scores = torch.einsum("bthd,bsd->bhts", q, k[:, :, 0]) * q.shape[-1] ** -0.5
        return torch.einsum(
            "bhts,bsd->bthd", scores.masked_fill(~seen, float("-inf")).softmax(-1), v[:, :, 0]
        )

    own = torch.arange(length) // block
    blocks = torch.stack([own, own * 0], -1)[:, :selected].reshape(1, length, 1, selected)
    blocks[:, :block, :, 1:] = 0
    q, _, _ = qkv(length=length, heads=16, key=64, dtype=dtype)
    _, k, v = qkv(length=length, heads=1, key=64, value=64, dtype=dtype)
    on = on_device(blocks)
    from fla.ops.nsa.parallel import ParallelNSAFunction  # noqa: F401

    gate = on_device(torch.ones(1, length, 16, dtype=dtype))
    counts = on_device(torch.where(torch.arange(length) < block, 1, selected).reshape(1, length, 1))
    same(
        lambda q, k, v: ops.parallel_nsa(
            q, k, v, g_slc=gate, g_cmp=None, block_indices=on, block_counts=counts, block_size=block
        ),
        reference,
        [q, k, v],
        LOOSE[dtype],
    )


@case(dtype=[f32, bf16])
def rwkv6(dtype):
    def reference(r, k, v, w, u):
        state, results = torch.zeros(1, 2, 32, 32), []
        for t in range(r.shape[1]):
            new = torch.einsum("bhk,bhv->bhkv", k[:, t], v[:, t])
            results.append(
                torch.einsum("bhk,bhkv->bhv", r[:, t] * 32**-0.5, state + u[None, :, :, None] * new)
            )
            state = state * w[:, t].exp()[..., None] + new
        return torch.stack(results, 1)

    same(
        lambda r, k, v, w, u: ops.chunk_rwkv6(r, k, v, w, u)[0],
        reference,
        [
            *qkv(length=70, dtype=dtype),
            decay(1, 70, 2, 32, dtype=dtype),
            normal(2, 32, dtype=dtype),
        ],
        LOOSE[dtype],
    )


@case(kind=["chunk", "fused_recurrent"], dtype=[f32])
def rwkv7(kind, dtype):
    function = getattr(ops, f"{kind}_rwkv7")

    def reference(r, w, k, v, a, b):
        state, results = torch.zeros(1, 2, 32, 32), []
        for t in range(r.shape[1]):
            along = torch.einsum("bhk,bhkv->bhv", a[:, t], state)
            state = state * w[:, t].exp()[..., None]
            state = state + torch.einsum("bhk,bhv->bhkv", b[:, t], along)
            state = state + torch.einsum("bhk,bhv->bhkv", k[:, t], v[:, t])
            results.append(torch.einsum("bhk,bhkv->bhv", r[:, t], state))
        return torch.stack(results, 1)

    r, k, v = qkv(length=48)
    a = unit(normal(1, 48, 2, 32))
    b = (-a.detach() * share(1, 48, 2, 32).detach()).requires_grad_()
    same(
        lambda r, w, k, v, a, b: function(r, w, k, v, a, b, scale=1.0)[0],
        reference,
        [r, decay(1, 48, 2, 32, scale=0.5), k, v, a, b],
        2e-2,
        backward=kind == "chunk",
    )


@case(length=[64, 70], norm=[False, True])
def based(length, norm):
    def reference(q, k, v):
        scores = torch.einsum("bthd,bshd->bhts", q * q.shape[-1] ** -0.5, k)
        scores = (1 + scores + scores.square() / 2).tril()
        result = mix(scores, v)
        return result / (scores.sum(-1).transpose(1, 2)[..., None] + 1e-6) if norm else result

    q, k, v = qkv(length=length, key=16, dtype=f32)
    same(lambda q, k, v: ops.parallel_based(q, k, v, use_norm=norm), reference, [q, k, v], 2e-2)


@case(columns=[64, 300], dtype=[f32, bf16], gate=[False, True])
def fused_norm(columns, dtype, gate):
    layer = modules.FusedRMSNormGated(columns) if gate else modules.RMSNorm(columns)
    layer = layer.to(on_device(torch.zeros(1)).device)

    def reference(x, g):
        y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + layer.eps)
        return y * F.silu(g) if gate else y

    same(
        (lambda x, g: layer(x, g)) if gate else (lambda x, g: layer(x)),
        reference,
        [normal(3, 9, columns, dtype=dtype), normal(3, 9, columns, dtype=dtype)],
    )


@case(activation=[None, "silu"], width=[3, 4], dtype=[f32, bf16])
def short_convolution(activation, width, dtype):
    from fla.modules.convolution import causal_conv1d

    def reference(x, w):
        y = F.conv1d(
            F.pad(x.transpose(1, 2), (width - 1, 0)), w[:, None], groups=x.shape[-1]
        ).transpose(1, 2)
        return y if activation is None else F.silu(y)

    def function(x, w):
        result = causal_conv1d(x, w, activation=activation, backend="triton")
        return result[0] if isinstance(result, tuple) else result

    same(function, reference, [normal(2, 77, 48, dtype=dtype), normal(48, width, dtype=dtype)])


@case(columns=[100, 3000], smoothing=[0.0, 0.1])
def cross_entropy(columns, smoothing):
    target = integers(0, columns, (11,))
    from fla.modules.fused_cross_entropy.ops import (
        cross_entropy_loss,
    )  # the module requires a CUDA tensor

    same(
        lambda x: cross_entropy_loss(x, target, label_smoothing=smoothing)[0].mean(),
        lambda x: F.cross_entropy(x, target.cpu(), label_smoothing=smoothing),
        [normal(11, columns)],
    )


@case(shape=[(2, 130, 3)], reverse=[False, True], dtype=[f32])
def cumsum(shape, reverse, dtype):
    from fla.ops.utils import chunk_global_cumsum

    def reference(x):
        return x.flip(1).cumsum(1).flip(1) if reverse else x.cumsum(1)

    same(lambda x: chunk_global_cumsum(x, reverse=reverse), reference, [normal(*shape, grad=False)])


@case(size=[16, 32, 64])
def solve_triangular(size):
    from fla.ops.utils import solve_tril

    def reference(a):
        blocks = a.transpose(1, 2).reshape(1, 2, 2, size, size)
        return (
            torch.linalg.inv(torch.eye(size) + blocks.tril(-1))
            .reshape(1, 2, 2 * size, size)
            .transpose(1, 2)
        )

    rows = torch.randn(1, 2, 2, size, size, device="cpu").tril(-1) * 0.2
    matrix = on_device(rows.reshape(1, 2, 2 * size, size).transpose(1, 2).contiguous())
    same(solve_tril, reference, [matrix], 1e-2)
