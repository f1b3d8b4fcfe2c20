"""The measured kernels, and NumPy's and torch's forms of them.

The kernels are plain ones, as in the tutorials, and not tuned to any of the sizes.
"""
# SPDX-License-Identifier: MIT

import numpy as np
import triton
import triton.language as tl
from arrays import torch

EPS = 1e-5


@triton.jit
def empty():
    pass


@triton.jit
def scaled_add(x, y, out, n, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + scale * tl.load(y + at, mask=inside), inside)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside).to(tl.float32)
    # 0.5 (1 + tanh(u)) is 1 / (1 + exp(-2 u)).
    twice = 1.5957691216057308 * value * (1 + 0.044715 * value * value)
    tl.store(out + at, value / (1 + tl.exp(-twice)), mask=inside)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.load(x + start + at, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + start + at, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def layernorm(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.load(x + start + at, mask=inside, other=0.0).to(tl.float32)
    centred = tl.where(inside, row - tl.sum(row, axis=0) / columns, 0.0)
    deviation = tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    scale, shift = tl.load(weight + at, mask=inside), tl.load(bias + at, mask=inside)
    tl.store(out + start + at, centred / deviation * scale + shift, mask=inside)


@triton.jit
def matmul(a, b, out, N, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr):
    row = tl.program_id(0) * M_TILE + tl.arange(0, M_TILE)[:, None]
    column = tl.program_id(1) * N_TILE + tl.arange(0, N_TILE)[None, :]
    total = tl.zeros((M_TILE, N_TILE), tl.float32)
    for start in range(0, K, K_TILE):
        k = start + tl.arange(0, K_TILE)
        left = tl.load(a + row * K + k[None, :])
        total = tl.dot(left, tl.load(b + k[:, None] * N + column), total)
    tl.store(out + row * N + column, total)


@triton.jit
def dots_in_cache(a, b, out, repeats, TILE: tl.constexpr):
    row, column = tl.arange(0, TILE)[:, None], tl.arange(0, TILE)[None, :]
    at = row * TILE + column
    total = tl.zeros((TILE, TILE), tl.float32)
    for _ in range(repeats):
        total = tl.dot(tl.load(a + at), tl.load(b + at), total)
    tl.store(out + tl.program_id(0) * TILE * TILE + at, total)


def add_by_numpy(x, y, out):
    np.add(x, y, out=out)


def gelu_by_numpy(x, out):
    np.multiply(x, x, out=out)
    out *= 0.044715
    out += 1
    out *= x
    out *= 0.7978845608028654
    np.tanh(out, out=out)
    out += 1
    out *= x
    out *= 0.5


def softmax_by_numpy(x, out):
    np.subtract(x, x.max(axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    out /= out.sum(axis=1, keepdims=True)


def layernorm_by_numpy(x, weight, bias, out):
    np.subtract(x, x.mean(axis=1, keepdims=True), out=out)
    out /= np.sqrt(np.square(out).mean(axis=1, keepdims=True) + EPS)
    out *= weight
    out += bias


def matmul_by_numpy(a, b, out):
    np.matmul(a, b, out=out)


def add_of_torch(x, y, out):
    return lambda: torch.add(x, y, out=out)


def gelu_of_torch(x, out):
    return lambda: torch.ops.aten.gelu.out(x, approximate="tanh", out=out)


def softmax_of_torch(x, out):
    return lambda: torch.ops.aten._softmax.out(x, 1, False, out=out)


def layernorm_of_torch(x, weight, bias, out):
    columns = x.shape[1:]
    # Devices differ in the dtype of these.
    _, mean, scale = torch.native_layer_norm(x, columns, weight, bias, EPS)
    return lambda: torch.ops.aten.native_layer_norm.out(
        x, columns, weight, bias, EPS, out0=out, out1=mean, out2=scale
    )


def matmul_of_torch(a, b, out):
    return lambda: torch.mm(a, b, out=out)
