"""Built-ins under their other names: tl.math, methods, functions of descriptors, properties of targets."""
# SPDX-License-Identifier: MIT

import math

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, empty_like, launch, values


@triton.jit
def math_module(x_ptr, y_ptr, out_ptr, high_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    r = tl.math.exp(x) + tl.math.exp2(x) + tl.math.log(y) + tl.math.log2(y)
    r += tl.math.sin(x) + tl.math.cos(x) + tl.math.erf(x) + tl.math.abs(x)
    r += tl.math.floor(x) + tl.math.ceil(x) + tl.math.sqrt(y) + tl.math.sqrt_rn(y)
    r += tl.math.rsqrt(y) + tl.math.fdiv(x, y) + tl.math.div_rn(x, y) + tl.math.fma(x, y, x)
    tl.store(out_ptr + i, r)
    big = i.to(tl.uint32) * 16777259
    tl.store(high_ptr + i, tl.math.umulhi(big, big))


def test_math_module(device):
    x, y = values("float32", 64), values("float32", 64, seed=1, low=0.5, high=4)
    a, b = x.astype(np.float64), y.astype(np.float64)
    want = np.exp(a) + np.exp2(a) + np.log(b) + np.log2(b) + np.sin(a) + np.cos(a)
    want += np.vectorize(math.erf)(a) + np.abs(a) + np.floor(a) + np.ceil(a) + 2 * np.sqrt(b)
    want += 1 / np.sqrt(b) + 2 * a / b + a * b + a
    big = np.arange(64, dtype=np.uint64) * 16777259
    high = (big * big >> np.uint64(32)).astype(np.uint32)
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=empty_like(x), high_ptr=empty_like(high), N=64)
    expected = dict(out_ptr=want, high_ptr=high)
    check(math_module, (1,), arguments, expected, device=device, rtol=1e-5, atol=1e-5)


@triton.jit
def swap_methods(p_ptr, old_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    p = p_ptr + i
    tl.store(old_ptr + i, p.atomic_xchg(i * 2))
    tl.store(old_ptr + N + i, p.atomic_cas(i + 3, i * 0 - 1))


def test_atomic_swaps_as_methods(device):
    p = values("int32", 8, low=-99, high=99)
    doubled = np.arange(8, dtype=np.int32) * 2
    after = np.where(doubled == np.arange(8) + 3, -1, doubled).astype(np.int32)
    old = np.concatenate([p, doubled])
    arguments = dict(p_ptr=p, old_ptr=empty_like(old), N=8)
    check(swap_methods, (1,), arguments, dict(p_ptr=after, old_ptr=old), device=device)


@triton.jit
def descriptor_functions(x_ptr, out_ptr, m, n, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [N, N])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [N, N])
    block = tl.load_tensor_descriptor(x, [1, 4])
    tl.store_tensor_descriptor(out, [0, 0], block + 1)


def test_descriptors_by_function(device):
    x = values("float32", 6, 12)
    want = np.zeros((6, 12), np.float32)
    want[:6, :8] = 1
    want[:5, :8] += x[1:6, 4:12]
    arguments = dict(x_ptr=x, out_ptr=np.zeros((6, 12), np.float32), m=6, n=12, N=8)
    check(descriptor_functions, (1,), arguments, dict(out_ptr=want), device=device)


@triton.jit
def target_names(x_ptr, out_ptr, counts_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    small = tl.extra.cuda.convert_custom_float8_sm80(x, tl.float8e4b15, "rtne")
    again = tl.extra.cuda.convert_custom_float8_sm70(small, tl.float32)
    tl.store(out_ptr + i, again)
    tl.store(counts_ptr, tl.extra.hip.num_warps())
    tl.store(counts_ptr + 1, tl.extra.hip.num_threads())


def test_names_of_targets_that_mean_something_everywhere(device):
    x = np.array([0, 0.5, -1, 1.75, 0.125, -0.4375, 0.25, 1.5], np.float32)  # all fit in 4 bits
    arguments = dict(x_ptr=x, out_ptr=empty_like(x), counts_ptr=np.zeros(2, np.int32), N=8)
    expected = dict(out_ptr=x, counts_ptr=np.array([4, 128], np.int32))
    check(target_names, (1,), arguments, expected, device=device)


@triton.jit
def cuda_names(times_ptr, sm_ptr):
    tl.extra.cuda.gdc_wait()
    before = tl.extra.cuda.globaltimer()
    tl.store(sm_ptr, tl.extra.cuda.smid())
    tl.debug_barrier()
    tl.store(times_ptr, before)
    tl.store(times_ptr + 1, tl.extra.cuda.globaltimer())
    tl.extra.cuda.gdc_launch_dependents()


@triton.jit
def dependent(x_ptr, out_ptr):
    i = tl.arange(0, 16)
    tl.extra.cuda.gdc_wait()
    x = tl.load(x_ptr + i)
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(out_ptr + i, x + 1)


def test_dependent_launches_are_ordinary_where_there_are_none(device):
    x = np.arange(16, dtype=np.float32)
    check(dependent, (1,), dict(x_ptr=x, out_ptr=np.zeros_like(x)), dict(out_ptr=x + 1), device=device)


def test_registers_of_nvidia_gpus(device):
    if "gfx" in device:
        pytest.skip("registers that AMD GPUs lack; fail_extern.py has the errors")
    times, sm = np.zeros(2, np.int64), np.full(1, -1, np.int32)
    launch(cuda_names, (1,), device=device, times_ptr=times, sm_ptr=sm)
    if ":" not in device:  # otherwise nothing has run
        assert 0 < times[0] <= times[1] and 0 <= sm[0] < 1024
