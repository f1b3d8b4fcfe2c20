"""Timing, comparing, reports, cache files, descriptors."""
# SPDX-License-Identifier: MIT

import os
import pathlib
import time

import numpy as np
import pytest
import triton
from triton.testing import Benchmark, assert_close, do_bench, perf_report


def test_do_bench_measures(cpu_is_active):
    milliseconds = do_bench(lambda: time.sleep(0.002), warmup=1, rep=20)
    assert 2 <= milliseconds < 20
    times = do_bench(lambda: time.sleep(0.001), warmup=1, rep=10, return_mode="all")
    assert isinstance(times, list) and all(t >= 1 for t in times)
    low, middle, high = do_bench(lambda: None, warmup=1, rep=5, quantiles=[0.0, 0.5, 1.0])
    assert low <= middle <= high
    assert isinstance(do_bench(lambda: None, warmup=1, rep=5, quantiles=[0.5]), float)
    for mode in ("min", "max", "mean", "median"):
        assert do_bench(lambda: None, warmup=1, rep=2, return_mode=mode) >= 0
    with pytest.raises(ValueError, match="return_mode must be one of"):
        do_bench(lambda: None, return_mode="fastest")


def test_assert_close():
    assert_close(np.array([1.0, np.nan]), np.array([1.005, np.nan]))
    with pytest.raises(AssertionError):
        assert_close(np.array([1.0, 2.0]), np.array([1.0, 2.1]))
    assert_close(1.0, 1.5, atol=lambda dtype: 1.0)
    with pytest.raises(AssertionError, match="is not close"):
        assert_close(1.0, 1.5)


def test_perf_report(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")

    @perf_report(
        Benchmark(
            ["n"], [1, 2, 4], "which", ["a", "b"], ["A", "B"], "plot", {"offset": 10}, ylabel="ms"
        )
    )
    def bench(n, which, offset):
        value = n + offset + (100 if which == "b" else 0)
        return value, value - 1, value + 1

    frame = bench.run(save_path=str(tmp_path), return_df=True)
    assert (
        isinstance(frame, pandas.DataFrame)
        and frame["A"].tolist() == [11, 12, 14]
        and frame["B-max"].tolist() == [112, 113, 115]
    )
    assert {"plot.png", "plot.csv", "results.html"} <= set(os.listdir(tmp_path))


def test_cache_files(tmp_path, monkeypatch):
    from triton.runtime.cache import _base32, get_cache_manager

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    key = "ab" * 32
    manager = get_cache_manager(key)
    assert manager.get_file("a.txt") is None and manager.get_group("g") is None
    path = manager.put("text", "a.txt", binary=False)
    assert path == str(tmp_path / _base32(key) / "a.txt")
    assert pathlib.Path(path).read_text() == "text"
    manager.put_group("g", {"a.txt": path})
    assert manager.get_group("g") == {"a.txt": path}
    manager.put_group("g", {"a.txt": path, "gone": path + "x"})
    assert manager.get_group("g") is None
    with pytest.raises(ValueError, match="not a plain file name"):
        manager.put("x", "../a.txt")
    assert not [name for name in os.listdir(tmp_path / _base32(key)) if name.startswith(".")]


def test_tensor_descriptor_checks():
    torch = pytest.importorskip("torch")
    from triton.tools.tensor_descriptor import TensorDescriptor

    tensor = torch.zeros(32, 64)
    made = TensorDescriptor.from_tensor(tensor, [16, 32])
    assert list(made.shape) == [32, 64] and made.padding == "zero"
    with pytest.raises(AssertionError, match="Last dimension must be contiguous"):
        TensorDescriptor.from_tensor(tensor.t(), [16, 32])
    with pytest.raises(AssertionError, match="powers of two"):
        TensorDescriptor.from_tensor(tensor, [16, 33])


def test_allocator_is_asked_for():
    from triton.runtime._allocation import get_allocator

    triton.set_allocator(triton.runtime._allocation.NullAllocator())
    with pytest.raises(RuntimeError, match="no allocator was set"):
        get_allocator()(16, 16, None)
    triton.set_allocator(lambda size, alignment, stream: bytearray(size))
    assert len(get_allocator()(16, 16, None)) == 16
    triton.set_allocator(triton.runtime._allocation.NullAllocator())


def test_reinterpreted_tensors():
    torch = pytest.importorskip("torch")
    import triton.language as tl

    tensor = torch.zeros(4, dtype=torch.int8)
    seen = triton.reinterpret(tensor, tl.uint8)
    assert seen.data_ptr() == tensor.data_ptr() and seen.dtype is tl.uint8
    assert triton.runtime.jit.mangle_type(seen) == "*u8"
    assert triton.reinterpret(seen, torch.int8) is tensor
