"""How each kernel of kernels.py is compiled, its arguments and the results that numpy expects."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

GPUS = (80, 90)


@dataclasses.dataclass
class Launch:
    """One run: the arguments, and arrays that it writes with what they should hold and the relative error allowed."""

    grid: tuple[int, ...]
    args: list[Any]
    expected: list[tuple[np.ndarray, np.ndarray, float]]


@dataclasses.dataclass
class Case:
    kernel: str
    signature: str  # types of the arguments that are no constants
    constants: dict[str, Any]
    launch: Callable[[], Launch]
    num_warps: int = 4
    num_stages: int = 3
    gpus: tuple[int, ...] = GPUS


def _rng() -> np.random.Generator:
    return np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return _rng().standard_normal(shape).astype(np.float32)


# --- bf16 and fp8 -----------------------------------------------------------------------------------


def to_bf16(values: np.ndarray) -> np.ndarray:
    """The upper half of float32, rounded to the nearest."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_tf32(values: np.ndarray) -> np.ndarray:
    """Without the 13 low bits, which tensor cores do not read."""
    return (values.view(np.uint32) & 0xFFFFE000).view(np.float32)


def from_e5m2(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint16) << 8).view(np.float16).astype(np.float32)


def few_e5m2(*shape: int) -> np.ndarray:
    """Codes of numbers between -4 and 4."""
    signs = _rng().integers(0, 2, shape) << 7
    return (signs | _rng().integers(48, 69, shape)).astype(np.uint8)


# --- elementwise and rows ---------------------------------------------------------------------------


def vector_add() -> Launch:
    n = 3001
    x, y = normal(n), normal(n)[::-1].copy()
    out = np.zeros(n, np.float32)
    return Launch((3,), [x, y, out, n], [(out, x + y, 0)])


def softmax() -> Launch:
    x = normal(7, 781)
    out = np.zeros_like(x)
    powers = np.exp(x - x.max(1, keepdims=True))
    return Launch((3,), [x, out, 781, 7, 781], [(out, powers / powers.sum(1, keepdims=True), 1e-5)])


def layer_norm() -> Launch:
    rows, columns = 3, 1200
    x = normal(rows, columns).astype(np.float16)
    weight, bias = normal(columns).astype(np.float16), normal(columns)[::-1].astype(np.float16)
    out, mean, rstd = np.zeros_like(x), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    wide = x.astype(np.float32)
    expected_mean = wide.mean(1)
    expected_rstd = 1 / np.sqrt(wide.var(1) + 1e-5)
    expected = (wide - expected_mean[:, None]) * expected_rstd[:, None] * weight.astype(
        np.float32
    ) + bias
    args = [x, out, weight, bias, mean, rstd, columns, columns, 1e-5]
    return Launch(
        (rows,),
        args,
        [(out, expected, 2e-3), (mean, expected_mean, 1e-4), (rstd, expected_rstd, 1e-4)],
    )


def layer_norm_backward() -> Launch:
    rows, columns, groups = 6, 500, 2
    x, dy = normal(rows, columns), normal(rows, columns)[::-1].copy()
    weight = normal(columns)
    mean, rstd = x.mean(1), 1 / np.sqrt(x.var(1) + 1e-5)
    unit = (x - mean[:, None]) * rstd[:, None]
    scaled = weight * dy
    dx = (
        scaled - unit * (unit * scaled).mean(1, keepdims=True) - scaled.mean(1, keepdims=True)
    ) * rstd[:, None]
    got = np.zeros_like(x)
    dw, db = np.zeros((groups, columns), np.float32), np.zeros((groups, columns), np.float32)
    locks = np.zeros(2 * groups, np.int32)
    expected_dw = np.stack([(dy * unit)[group::groups].sum(0) for group in range(groups)])
    expected_db = np.stack([dy[group::groups].sum(0) for group in range(groups)])
    args = [got, dy, dw, db, x, weight, mean, rstd, locks, columns, columns]
    return Launch(
        (rows,), args, [(got, dx, 1e-4), (dw, expected_dw, 1e-4), (db, expected_db, 1e-4)]
    )


def dropout() -> Launch:
    n, p, seed = 1000, 0.5, 123
    x = normal(n)
    out = np.zeros_like(x)
    keeps = philox_uniform(seed, np.arange(n)) > p
    return Launch((1,), [x, out, n, p, seed], [(out, np.where(keeps, x / (1 - p), 0), 1e-6)])


def philox_uniform(seed: int, offsets: np.ndarray) -> np.ndarray:
    """Philox4x32-10 (Salmon et al., 2011); the first word as a float32 in [0, 1), as the language defines it."""
    mask = np.uint64(0xFFFFFFFF)
    counter = [offsets.astype(np.uint64), *(np.zeros(offsets.shape, np.uint64) for _ in range(3))]
    key = [np.uint64(seed), np.uint64(0)]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        high_a, high_b = a >> np.uint64(32), b >> np.uint64(32)
        counter = [high_b ^ counter[1] ^ key[0], b & mask, high_a ^ counter[3] ^ key[1], a & mask]
        key = [(key[0] + np.uint64(0x9E3779B9)) & mask, (key[1] + np.uint64(0xBB67AE85)) & mask]
    word = counter[0].astype(np.uint32).view(np.int32)
    word = np.where(word < 0, -word - 1, word)
    return word.astype(np.float32) * np.float32(4.6566127342e-10)


def running() -> Launch:
    x = _rng().integers(-1000, 1000, 512).astype(np.int32)
    sums, ordered, counts = np.zeros_like(x), np.zeros_like(x), np.zeros(16, np.int32)
    expected = [
        (sums, x.cumsum(), 0),
        (ordered, np.sort(x), 0),
        (counts, np.bincount(x & 15, minlength=16), 0),
    ]
    return Launch((1,), [x, sums, ordered, counts], expected)


# --- matmul -----------------------------------------------------------------------------------------


def _matmul(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, product: np.ndarray, tile: int, tolerance: float
) -> Launch:
    (m, k), n = a.shape, b.shape[1]
    grid = (-(-m // tile) * -(-n // tile),)
    return Launch(grid, [a, b, c, m, n, k, k, n, n], [(c, product, tolerance)])


def matmul_f16() -> Launch:
    a, b = normal(120, 96).astype(np.float16), normal(96, 144).astype(np.float16)
    product = a.astype(np.float32) @ b.astype(np.float32)
    return _matmul(a, b, np.zeros((120, 144), np.float16), product, 64, 2e-3)


def matmul_bf16() -> Launch:
    a, b = to_bf16(normal(128, 80)), to_bf16(normal(80, 128))
    c = np.zeros((128, 128), np.uint16)
    return _matmul(a, b, c, from_bf16(a) @ from_bf16(b), 64, 8e-3)


def matmul_fp8() -> Launch:
    a, b = few_e5m2(128, 128), few_e5m2(128, 128)
    return _matmul(a, b, np.zeros((128, 128), np.float32), from_e5m2(a) @ from_e5m2(b), 64, 1e-3)


def matmul_tf32() -> Launch:
    a, b = normal(64, 64), normal(64, 64)
    return _matmul(a, b, np.zeros((64, 64), np.float32), to_tf32(a) @ to_tf32(b), 64, 1e-4)


def matmul_persistent() -> Launch:
    a, b = normal(256, 192).astype(np.float16), normal(256, 192).astype(np.float16)
    c = np.zeros((256, 256), np.float16)
    product = a.astype(np.float32) @ b.astype(np.float32).T
    return Launch((3,), [a, b, c, 256, 256, 192], [(c, product, 2e-3)])


def matmul_grouped() -> Launch:
    shapes = [(64, 128, 64), (128, 64, 192), (192, 64, 64)]
    pairs = [
        (normal(m, k).astype(np.float16), normal(k, n).astype(np.float16)) for m, n, k in shapes
    ]
    results = [np.zeros((m, n), np.float16) for m, n, _ in shapes]
    pointers = [
        np.array([array.ctypes.data for array in arrays], np.int64)
        for arrays in ([a for a, _ in pairs], [b for _, b in pairs], results)
    ]
    sizes = np.array(shapes, np.int32)
    products = [a.astype(np.float32) @ b.astype(np.float32) for a, b in pairs]
    expected = [(result, product, 2e-3) for result, product in zip(results, products, strict=True)]
    launch = Launch((3,), [*pointers, sizes, len(shapes)], expected)
    launch.kept = pairs  # their addresses are in `pointers`
    return launch


# --- attention --------------------------------------------------------------------------------------


def _attended(
    q: np.ndarray, k: np.ndarray, scale: float, is_causal: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, and the logarithms of their norms to base 2."""
    scores = q @ k.transpose(0, 2, 1) * scale
    if is_causal:
        scores = np.where(np.tri(scores.shape[1], dtype=bool), scores, -np.inf)
    highest = scores.max(-1, keepdims=True)
    powers = np.exp(scores - highest)
    norm = powers.sum(-1, keepdims=True)
    return powers / norm, ((highest + np.log(norm)) / np.log(2))[..., 0]


def attention_of(is_causal: bool, length: int, width: int) -> Launch:
    heads = 2
    q, k, v = (normal(3, heads, length, width)[index].astype(np.float16) for index in range(3))
    out, lse = np.zeros_like(q), np.zeros((heads, length), np.float32)
    scale = width**-0.5
    chances, logs = _attended(q.astype(np.float32), k.astype(np.float32), scale, is_causal)
    args = [q, k, v, out, lse, scale, length]
    expected = [(out, chances @ v.astype(np.float32), 3e-3), (lse, logs, 1e-3)]
    return Launch((length // 64, heads), args, expected)


def attention() -> Launch:
    return attention_of(False, 128, 64)


def attention_causal() -> Launch:
    return attention_of(True, 128, 64)


def attention_backward() -> Launch:
    heads, length, width = 2, 128, 64
    q, k, v, do = (normal(4, heads, length, width)[index].astype(np.float16) for index in range(4))
    wide_q, wide_k, wide_v, wide_do = (array.astype(np.float32) for array in (q, k, v, do))
    scale = width**-0.5
    chances, logs = _attended(wide_q, wide_k, scale, False)
    delta = (chances @ wide_v * wide_do).sum(-1).astype(np.float32)
    expected_dv = chances.transpose(0, 2, 1) @ wide_do
    ds = chances * (wide_do @ wide_v.transpose(0, 2, 1) - delta[..., None])
    expected_dk = ds.transpose(0, 2, 1) @ wide_q * scale
    dk, dv = np.zeros_like(q), np.zeros_like(q)
    args = [q, k, v, do, logs.astype(np.float32), delta, dk, dv, scale, length]
    return Launch((length // 64, heads), args, [(dk, expected_dk, 5e-3), (dv, expected_dv, 5e-3)])


TILES = dict(BM=64, BN=64, BK=32, GROUP=2)
MATMUL = "*{0},*{0},*{1},i32,i32,i32,i32:16,i32:16,i32:16"
ATTENTION = "*fp16,*fp16,*fp16,*fp16,*fp32,fp32,i32:16"
ATTENTION_TILES = dict(D=64, BM=64, BN=64)

CASES = {
    "vector_add": Case("vector_add", "*fp32,*fp32,*fp32,i32", dict(BLOCK=1024), vector_add),
    "softmax": Case("softmax", "*fp32,*fp32,i32,i32,i32", dict(BLOCK=1024, STAGES=3), softmax),
    "layer_norm": Case(
        "layer_norm",
        "*fp16,*fp16,*fp16,*fp16,*fp32,*fp32,i32,i32,fp32",
        dict(BLOCK=512),
        layer_norm,
    ),
    "layer_norm_backward": Case(
        "layer_norm_backward",
        ",".join(["*fp32"] * 8 + ["*i32", "i32", "i32"]),
        dict(GROUPS=2, BLOCK=512),
        layer_norm_backward,
    ),
    "dropout": Case("dropout", "*fp32,*fp32,i32,fp32,i32", dict(BLOCK=1024), dropout),
    "running": Case("running", "*i32,*i32,*i32,*i32", dict(BLOCK=512), running),
    "matmul_f16": Case("matmul", MATMUL.format("fp16", "fp16"), TILES, matmul_f16),
    "matmul_bf16": Case("matmul", MATMUL.format("bf16", "bf16"), TILES, matmul_bf16),
    "matmul_fp8": Case("matmul", MATMUL.format("fp8e5", "fp32"), TILES, matmul_fp8),
    "matmul_tf32": Case("matmul", MATMUL.format("fp32", "fp32"), TILES, matmul_tf32),
    "matmul_persistent": Case(
        "matmul_persistent",
        "*fp16,*fp16,*fp16,i32,i32,i32:16",
        dict(BM=128, BN=64, BK=64, PROGRAMS=3, SPECIALIZE=False),
        matmul_persistent,
        gpus=(90,),
    ),
    "matmul_grouped": Case(
        "matmul_grouped", "*i64,*i64,*i64,*i32,i32", dict(PROGRAMS=3, B=64), matmul_grouped
    ),
    "attention": Case(
        "attention", ATTENTION, dict(**ATTENTION_TILES, CAUSAL=False, SPECIALIZE=False), attention
    ),
    "attention_causal": Case(
        "attention",
        ATTENTION,
        dict(**ATTENTION_TILES, CAUSAL=True, SPECIALIZE=False),
        attention_causal,
    ),
    "attention_backward": Case(
        "attention_backward",
        ",".join(["*fp16"] * 4 + ["*fp32"] * 2 + ["*fp16"] * 2 + ["fp32", "i32:16"]),
        ATTENTION_TILES,
        attention_backward,
    ),
}
