"""Programs with autotuned kernels, at the sizes of models: those of public libraries and our own.

A library that is not installed has no programs. `PROGRAMS` has a function for each; one call of it tunes every kernel
that it uses.
"""
# SPDX-License-Identifier: MIT

import importlib
import importlib.util
import sys
import types

import torch
import torch.nn.functional as F
import tuning_kernels

PROGRAMS = {}
DEVICE = "cuda"
QUICK = False  # tiny sizes: does it run?
DIVISOR = 1  # of sizes, for slower devices


def program(library):
    """Registers a function, if the library is there."""

    def register(function):
        if importlib.util.find_spec(library) is not None:
            PROGRAMS[f"{library}.{function.__name__}"] = function
        return function

    return register


def skip_init(name):
    """Makes modules of a package importable without its `__init__`, which wants compiled extensions."""
    if name not in sys.modules:
        package = types.ModuleType(name)
        package.__path__ = list(importlib.util.find_spec(name).submodule_search_locations)
        sys.modules[name] = package


def small(size, least=32):
    return max(least, size // (64 if QUICK else DIVISOR))


def normal(*shape, dtype=torch.bfloat16, grad=True, scale=1.0):
    values = torch.randn(*shape, device=DEVICE) * scale
    return values.to(dtype).requires_grad_(grad)


def forward_backward(function, *inputs):
    result = function(*inputs)
    result = result[0] if isinstance(result, (tuple, list)) else result
    result.backward(torch.randn_like(result))


# --- our own ---


@program("triton")
def matmul_square():
    tuning_kernels.run_matmul(small(4096, 128), DEVICE, torch.float16)


@program("triton")
def matmul_small():
    tuning_kernels.run_matmul(small(1024, 64), DEVICE, torch.float16)


@program("triton")
def softmax_rows():
    tuning_kernels.run_softmax(small(4096), 1024 if QUICK else 8192, DEVICE)


@program("triton")
def layer_norm_rows():
    tuning_kernels.run_layer_norm(small(8192), 1024 if QUICK else 4096, DEVICE)


@program("triton")
def attention():
    tuning_kernels.run_attention(small(4096, 128), 128, small(32, 2), DEVICE)


@program("triton")
def add_vectors():
    tuning_kernels.run_add(small(1 << 25), DEVICE)


# --- fla-core ---


def qkv(key=128, value=128, heads=16):
    length, heads = small(4096, 64), small(heads, 2)
    return [normal(2, length, heads, width) for width in (key, key, value)]


def decay(*shape):
    return F.logsigmoid(torch.randn(*shape, device=DEVICE)).requires_grad_()


def share(*shape):
    return torch.rand(*shape, device=DEVICE).to(torch.bfloat16).requires_grad_()


@program("fla")
def linear_attention():
    from fla import ops

    forward_backward(lambda q, k, v: ops.chunk_linear_attn(q, k, v, normalize=False), *qkv())


@program("fla")
def gated_linear_attention():
    from fla import ops

    q, k, v = qkv()
    forward_backward(ops.chunk_gla, q, k, v, decay(*q.shape))


@program("fla")
def simple_gated_linear_attention():
    from fla import ops

    q, k, v = qkv()
    forward_backward(
        lambda q, k, v, g: ops.chunk_simple_gla(q, k, v, g=g), q, k, v, decay(*q.shape[:3])
    )


@program("fla")
def delta_rule():
    from fla import ops

    q, k, v = qkv()
    k = F.normalize(k.detach(), dim=-1).requires_grad_()
    forward_backward(ops.chunk_delta_rule, q, k, v, share(*q.shape[:3]))


@program("fla")
def gated_delta_rule():
    from fla import ops

    q, k, v = qkv()
    k = F.normalize(k.detach(), dim=-1).requires_grad_()
    forward_backward(
        lambda q, k, v, g, beta: ops.chunk_gated_delta_rule(q, k, v, g=g, beta=beta),
        q, k, v, decay(*q.shape[:3]), share(*q.shape[:3]),
    )  # fmt: skip


@program("fla")
def kimi_delta_attention():
    from fla.ops.kda import chunk_kda

    q, k, v = qkv()
    k = F.normalize(k.detach(), dim=-1).requires_grad_()
    forward_backward(
        lambda q, k, v, g, beta: chunk_kda(q, k, v, g=g, beta=beta),
        q, k, v, decay(*q.shape), share(*q.shape[:3]),
    )  # fmt: skip


@program("fla")
def parallel_attention():
    from fla.ops.attn import parallel_attn

    forward_backward(parallel_attn, *qkv())


@program("fla")
def gated_slot_attention():
    from fla import ops

    q, k, v = qkv()
    slots = normal(*q.shape[:3], 64)
    forward_backward(ops.chunk_gsa, q, k, v, slots, decay(*q.shape[:3], 64))


@program("fla")
def hgrn():
    from fla.ops.hgrn.chunk import chunk_hgrn

    x = normal(4, small(4096, 64), 1024)
    forward_backward(chunk_hgrn, x, decay(*x.shape).to(x.dtype).detach().requires_grad_())


@program("fla")
def rwkv6():
    from fla import ops

    q, k, v = qkv(64, 64)
    forward_backward(
        lambda r, k, v, w, u: ops.chunk_rwkv6(r, k, v, w, u),
        q, k, v, decay(*q.shape), normal(q.shape[2], 64),
    )  # fmt: skip


@program("fla")
def norms():
    from fla import modules

    x = normal(4, small(4096, 64), 2048)
    for module in (modules.RMSNorm, modules.LayerNorm, modules.GroupNorm):
        made = module(8, 2048) if module is modules.GroupNorm else module(2048)
        forward_backward(made.to(DEVICE, torch.bfloat16), x)
    gated = modules.FusedRMSNormGated(2048).to(DEVICE, torch.bfloat16)
    forward_backward(lambda x: gated(x, x), x)


@program("fla")
def rotary_and_l2():
    from fla.modules.l2norm import l2_norm
    from fla.modules.rotary import RotaryEmbedding

    q, k, _ = qkv()
    forward_backward(lambda q: RotaryEmbedding(128).to(DEVICE)(q, k), q)
    forward_backward(l2_norm, q)


@program("fla")
def activations():
    from fla.modules import activations

    x, y = normal(4, small(4096, 64), 4096), normal(4, small(4096, 64), 4096)
    forward_backward(activations.swiglu, x, y)
    forward_backward(activations.swish, x)
    forward_backward(activations.logsigmoid, x)


@program("fla")
def short_convolution():
    from fla.modules import ShortConvolution

    made = ShortConvolution(2048, 4, activation="silu")
    forward_backward(made.to(DEVICE, torch.bfloat16), normal(4, small(4096, 64), 2048))


# --- mamba-ssm ---


@program("mamba_ssm")
def chunk_scan():
    skip_init("mamba_ssm")
    from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined

    length, heads = small(4096, 64), small(32, 2)
    x = normal(2, length, heads, 64)
    dt = F.softplus(torch.randn(2, length, heads, device=DEVICE) - 4).bfloat16().requires_grad_()
    a = (-torch.rand(heads, device=DEVICE) - 0.5).requires_grad_()
    b, c = normal(2, length, 1, 128), normal(2, length, 1, 128)
    forward_backward(lambda *inputs: mamba_chunk_scan_combined(*inputs, 256), x, dt, a, b, c)


@program("mamba_ssm")
def mamba_layer_norm():
    skip_init("mamba_ssm")
    from mamba_ssm.ops.triton.layer_norm import layer_norm_fn

    x = normal(small(8192, 64), 2048)
    forward_backward(
        lambda x, w, b: layer_norm_fn(x, w, b), x, normal(2048, dtype=torch.float32), normal(2048, dtype=torch.float32)
    )  # fmt: skip


# --- liger-kernel ---


@program("liger_kernel")
def dynamic_tanh():
    from liger_kernel.transformers.functional import liger_dyt

    x = normal(small(8192, 64), 4096)
    forward_backward(liger_dyt, x, normal(1), normal(4096), normal(4096))
