"""`triton._internal_testing`: the names that test suites written for Triton import from it."""
# SPDX-License-Identifier: MIT

import os
import sys

import numpy as np
import pytest
import triton
import triton.language as tl

torch = pytest.importorskip("torch")
from triton import _internal_testing as testing  # noqa: E402


def test_questions_about_the_device(device):
    assert testing.get_current_target().backend == device
    assert testing.is_cuda() == (device == "cuda") and testing.is_cpu() == (device == "cpu")
    assert not testing.is_hip() and not testing.is_xpu() and not testing.is_hip_cdna4()
    if device == "cpu":
        assert not testing.is_hopper_or_newer() and not testing.supports_tma()


@pytest.mark.parametrize("name", testing.dtypes_with_bfloat16)
def test_arrays_to_tensors_and_back(name, device):
    x = testing.numpy_random((4, 8), name)
    assert x.shape == (4, 8) and (name not in testing.integral_dtypes or (x != 0).all())
    assert (x == testing.numpy_random((4, 8), name)).all()
    tensor = testing.to_triton(x, device, dst_type=name)
    assert testing.torch_dtype_name(tensor.dtype) in (name, testing.str_to_triton_dtype(name).name)
    np.testing.assert_array_equal(testing.to_numpy(tensor), x)
    assert testing.unwrap_tensor(tensor).shape == (4, 8)


def test_names_of_types():
    assert testing.str_to_triton_dtype("float8_e4m3fn") is tl.float8e4nv
    assert testing.str_to_triton_dtype("bool") is tl.int1
    assert testing.torch_dtype_name(torch.bfloat16) == "bfloat16"
    assert testing.torch_dtype_name(tl.float32) == "fp32"
    with pytest.raises(TypeError):
        testing.torch_dtype_name("float32")


def test_fresh_settings(monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", "/nowhere")
    triton.knobs.cache.dir = "/elsewhere"
    try:
        fresh, restore = testing._fresh_knobs_impl()
        knobs = fresh()
        assert knobs.cache.dir.endswith("cache") and "TRITON_CACHE_DIR" not in os.environ
        knobs.cache.dir = "/here"
        assert os.environ["TRITON_CACHE_DIR"] == "/here"
        restore()
        assert triton.knobs.cache.dir == "/elsewhere"
        assert os.environ["TRITON_CACHE_DIR"] == "/elsewhere"
    finally:
        triton.knobs.cache.reset()


def says(text):
    print(text, file=sys.stderr)
    assert os.environ["OF_CHILD"] == "1"
    if text == "bad":
        raise KeyError(text)


def test_functions_in_processes_of_their_own():
    result = testing.run_in_process(says, ("good",), env={"OF_CHILD": "1"})
    assert result.exc is None and "good" in result.driver_stderr_output
    assert "OF_CHILD" not in os.environ
    assert isinstance(testing.run_in_process(says, ("bad",), env={"OF_CHILD": "1"}).exc, KeyError)


def test_random_numbers_are_those_of_torchs_generator():
    torch.manual_seed(3)
    expected = int(torch.randint(-5, 9, ())), float(torch.rand(()))
    torch.manual_seed(3)
    assert (testing.random_int(-5, 9, warmup_value=1), testing.random_float()) == expected


def test_launches_of_a_suite_always_run():
    assert not testing.is_compile_warmup()
    with testing.use_process_pool(__name__):
        assert testing.run_in_process(os.getpid).exc is None
