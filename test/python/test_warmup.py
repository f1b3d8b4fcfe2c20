"""`kernel.warmup(...)` of a known kernel."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from triton import knobs

FACTOR = tl.constexpr(3)


def make_kernel():
    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), n)

    return kernel


def zeros():
    return np.zeros(16, np.int32)


def count_runs(kernel):
    """How often calls reach Python; the list grows by one for each."""
    seen = []
    original = kernel._compile_only

    def counted(*args, **kwargs):
        seen.append(args)
        return original(*args, **kwargs)

    kernel._compile_only = counted
    return seen


def test_known_kernel_is_found_natively():
    kernel, x = make_kernel(), zeros()
    seen = count_runs(kernel)
    kernels = {kernel.warmup(x, 5, BLOCK=16, grid=(1,)) for _ in range(3)}
    assert len(kernels) == 1 and len(seen) == 1
    assert not x.any()


def test_is_the_kernel_of_a_launch():
    kernel, x = make_kernel(), zeros()
    for _ in range(2):
        warm = kernel.warmup(x, 5, BLOCK=16, grid=(1,))
    assert kernel[(1,)](x, 5, BLOCK=16) is warm


def test_dtypes_are_found_natively():
    torch = pytest.importorskip("torch")
    kernel = make_kernel()
    seen = count_runs(kernel)
    ints = [kernel.warmup(torch.int32, 5, BLOCK=16, grid=(1,)) for _ in range(3)]
    floats = [kernel.warmup(torch.float32, 5, BLOCK=16, grid=(1,)) for _ in range(3)]
    assert len(seen) == 2
    assert len(set(ints)) == len(set(floats)) == 1 and ints[0] is not floats[0]
    assert ints[0].src.signature["x"] == "*i32" and floats[0].src.signature["x"] == "*fp32"


def test_dtype_by_keyword_is_no_array():
    torch = pytest.importorskip("torch")
    kernel = make_kernel()
    kernel.warmup(torch.int32, 5, BLOCK=16, grid=(1,))
    with pytest.raises(TypeError, match="argument `x`"):
        kernel.warmup(x=torch.int32, n=5, BLOCK=16, grid=(1,))


def test_other_variants_are_other_kernels():
    kernel, x = make_kernel(), zeros()
    variants = [dict(n=5), dict(n=16), dict(n=1), dict(n=1 << 40), dict(n=5, num_warps=2)]
    for _ in range(2):
        found = [kernel.warmup(x, BLOCK=16, grid=(1,), **variant) for variant in variants]
        assert len(set(found)) == len(variants)


def test_grid_is_not_part_of_the_variant():
    kernel, x = make_kernel(), zeros()
    seen = count_runs(kernel)
    found = {kernel.warmup(x, 5, BLOCK=16, grid=grid) for grid in ((1,), (2, 3), lambda meta: (4,))}
    assert len(found) == 1 and len(seen) == 1


def test_missing_grid_is_an_error():
    with pytest.raises(TypeError, match="`warmup` takes a `grid`"):
        make_kernel().warmup(zeros(), 5, BLOCK=16)


def test_changed_global_is_an_error(monkeypatch):
    @triton.jit
    def kernel(x):
        tl.store(x, FACTOR)

    for _ in range(2):
        kernel.warmup(zeros(), grid=(1,))
    monkeypatch.setitem(globals(), "FACTOR", tl.constexpr(4))
    with pytest.raises(RuntimeError, match="Global variable FACTOR has changed"):
        kernel.warmup(zeros(), grid=(1,))


def test_hooks_of_the_kernel_are_called():
    kernel, x = make_kernel(), zeros()
    kernel.warmup(x, 5, BLOCK=16, grid=(1,))
    seen = []
    kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append(kwargs["BLOCK"]))
    for _ in range(2):
        kernel.warmup(x, 5, BLOCK=16, grid=(1,))
    assert seen == [16, 16]


def test_changed_settings_are_another_kernel():
    kernel, x = make_kernel(), zeros()
    for _ in range(2):
        plain = kernel.warmup(x, 5, BLOCK=16, grid=(1,))
    with knobs.runtime.scope():
        knobs.runtime.debug = True
        assert kernel.warmup(x, 5, BLOCK=16, grid=(1,)) is not plain
    assert kernel.warmup(x, 5, BLOCK=16, grid=(1,)) is plain


def test_new_source_is_compiled():
    kernel, x = make_kernel(), zeros()
    for _ in range(2):
        old = kernel.warmup(x, 5, BLOCK=16, grid=(1,))
    kernel._unsafe_update_src(kernel.src.replace("n)", "n + 1)"))
    new = kernel.warmup(x, 5, BLOCK=16, grid=(1,))
    assert new is not old
    kernel[(1,)](x, 5, BLOCK=16)
    assert (x == 6).all()


def test_simulated_gpu_and_cpu_are_told_apart():
    kernel, x = make_kernel(), zeros()
    for _ in range(2):
        on_cpu = kernel.warmup(x, 5, BLOCK=16, grid=(1,))
    driver = triton.runtime.driver
    try:
        driver.set_active(_simulator())
        on_gpu = [kernel.warmup(x, 5, BLOCK=16, grid=(1,)) for _ in range(2)]
    finally:
        driver.reset_active()
    assert on_gpu[0] is on_gpu[1] is not on_cpu
    assert kernel.warmup(x, 5, BLOCK=16, grid=(1,)) is on_cpu


def _simulator():
    from triton.backends.sim.driver import SimDriver

    return SimDriver("sim:90")


def test_tuner_warms_every_configuration():
    kernel, x = make_kernel(), zeros()
    configs = [triton.Config({"BLOCK": 8}), triton.Config({"BLOCK": 16})]
    tuner = triton.autotune(configs, key=["n"])(kernel)
    first = tuner.warmup(x, 5, grid=(1,))
    assert tuner.warmup(x, 5, grid=(1,)) == first and len(set(first)) == 2
