"""Matrices of microscaling formats and their scales: codes and their values."""
# SPDX-License-Identifier: MIT

import numpy as np

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def float_of_byte(bits, exponent_bits, bias, top):
    """The value of each of the 256 codes; `top` selects the meaning of the largest ones."""
    mantissa_bits = 7 - exponent_bits
    code = bits.astype(np.int64)
    exponent, mantissa = (code & 127) >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
    size = np.where(
        exponent == 0,
        mantissa * 2.0 ** (1 - bias - mantissa_bits),
        (1 + mantissa * 2.0**-mantissa_bits) * 2.0 ** (exponent - bias),
    )
    if top == "e4m3":
        size = np.where((code & 127) == 127, np.nan, size)
    if top == "e5m2":
        size = np.where(exponent == 31, np.where(mantissa == 0, np.inf, np.nan), size)
    return np.where(code & 128, -size, size)


def decode(raw, form):
    if form == "e4m3":
        return float_of_byte(raw, 4, 7, "e4m3")
    if form == "e5m2":
        return float_of_byte(raw, 5, 15, "e5m2")
    if form == "bf16":
        return (raw.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return raw.view(np.float16).astype(np.float64)


def tile(form, rows, depth, seed, is_packed_by_depth=True):
    """A [rows, depth] matrix: the bits that a kernel reads, and the values."""
    random = np.random.default_rng(seed)
    if form == "e2m1":
        codes = random.integers(0, 16, (rows, depth), np.uint8)
        packed = codes if is_packed_by_depth else codes.T
        packed = packed[:, ::2] | packed[:, 1::2] << 4
        return np.ascontiguousarray(packed if is_packed_by_depth else packed.T), E2M1[codes]
    if form in ("bf16", "fp16"):
        values = random.normal(size=(rows, depth)).astype(np.float16 if form == "fp16" else np.float32)
        raw = values.view(np.uint16) if form == "fp16" else (values.view(np.uint32) >> 16).astype(np.uint16)
        return raw, decode(raw, form)
    raw = random.integers(0, 256, (rows, depth)).astype(np.uint8)
    raw[~np.isfinite(decode(raw, form))] = 0x3A
    return raw, decode(raw, form)


def scale(kind, rows, groups, seed, codes=(110, 140)):
    """`codes` is the range of those of e8m0."""
    random = np.random.default_rng(seed)
    if kind is None:
        return np.zeros((1, 1), np.uint8), np.ones((rows, groups))
    if kind == "e8m0":
        raw = random.integers(*codes, (rows, groups)).astype(np.uint8)
        return raw, 2.0 ** (raw.astype(np.float64) - 127)
    raw = random.integers(8, 120, (rows, groups)).astype(np.uint8)
    return raw, float_of_byte(raw, 4, 7, "e4m3")
