"""torch.compile with Triton kernels for CPUs."""
# SPDX-License-Identifier: MIT

import subprocess
import sys
import time

import pytest
import triton

torch = pytest.importorskip("torch", reason="torch is not installed")


def normalised(x, weight):
    x = torch.nn.functional.gelu(x @ weight)
    return torch.softmax(x, 1).sum(0), x.t().contiguous()


@pytest.fixture
def cpp_afterwards():
    yield
    triton.enable_cpu_backend(False)


def test_functions_are_compiled_to_kernels(cpp_afterwards):
    from torch._inductor.utils import run_and_get_code

    x, weight = torch.randn(37, 64), torch.randn(64, 65)
    for enabled in (True, False):
        torch._dynamo.reset()
        triton.enable_cpu_backend(enabled)
        results, code = run_and_get_code(torch.compile(normalised), x, weight)
        assert ("@triton.jit" in "".join(code)) is enabled
        for result, expected in zip(results, normalised(x, weight), strict=False):
            torch.testing.assert_close(result, expected)


def test_gradients(cpp_afterwards):
    triton.enable_cpu_backend()
    model = torch.nn.Sequential(torch.nn.Linear(20, 33), torch.nn.LayerNorm(33), torch.nn.Tanh())
    x = torch.randn(5, 20, requires_grad=True)
    gradients = []
    for function in (torch.compile(model), model):
        x.grad = None
        model.zero_grad()
        function(x).square().sum().backward()
        gradients.append([x.grad, *(parameter.grad.clone() for parameter in model.parameters())])
    for ours, expected in zip(*gradients, strict=False):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-5)


def test_errors_say_what_is_missing(monkeypatch):
    from torch._inductor import config

    monkeypatch.setattr(triton.inductor, "hasattr", lambda *_: False, raising=False)
    with pytest.raises(RuntimeError, match=r"PyTorch .* writes C\+\+ alone for CPUs; from 2.5 on"):
        triton.enable_cpu_backend()
    assert config.cpu_backend == "cpp"
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="pip install torch"):
        triton.enable_cpu_backend()


def test_nothing_is_imported():
    """PyTorch's compiler takes a second to import; what it is to do is set when a program does so."""
    program = """
import sys, torch, triton
triton.enable_cpu_backend()
assert not [name for name in sys.modules if name.startswith(("torch._inductor", "torch._dynamo"))]
from torch._inductor import config
from torch._inductor.lowering import lowerings
from torch._inductor.runtime import benchmarking
assert config.cpu_backend == "triton"
assert hasattr(lowerings[torch.ops.aten.cat.default], "_of_pytorch")
triton.enable_cpu_backend(False)
assert config.cpu_backend == "cpp"
assert not hasattr(lowerings[torch.ops.aten.cat.default], "_of_pytorch")
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_later_choice_counts():
    program = """
import triton
triton.enable_cpu_backend()
triton.enable_cpu_backend(False)
from torch._inductor import config
assert config.cpu_backend == "cpp"
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_kernels_are_measured_briefly(cpp_afterwards):
    """Five samples of 3 ms are enough to choose a configuration by; PyTorch's own way takes 125 ms."""
    from torch._inductor.runtime.benchmarking import benchmarker

    calls = []

    def function():
        calls.append(None)
        time.sleep(0.003)

    triton.enable_cpu_backend()
    assert 3 <= benchmarker.benchmark(function, device="cpu") < 125
    assert len(calls) == 6
    triton.enable_cpu_backend(False)
    calls.clear()
    benchmarker.benchmark(function, device="cpu", warmup=20, rep=40)
    assert len(calls) > 6


def test_kernels_are_measured_briefly_by_older_releases(cpp_afterwards, monkeypatch):
    """Earlier the compiler called a method, which cannot be registered."""
    from torch._inductor.runtime import benchmarking

    monkeypatch.delattr(benchmarking, "register_benchmarker", raising=False)
    own_way = benchmarking.Benchmarker.benchmark_cpu
    calls = []

    def function():
        calls.append(None)
        time.sleep(0.003)

    for _ in range(2):
        triton.enable_cpu_backend()
    assert 3 <= benchmarking.benchmarker.benchmark_cpu(function) < 125
    assert len(calls) == 6
    triton.enable_cpu_backend(False)
    assert benchmarking.Benchmarker.benchmark_cpu is own_way


def joined(x, y):
    return torch.nn.functional.silu(torch.cat((x, y + 1), -1)) * 2


def joined_results(x, y):
    return torch.cat((torch.softmax(x, -1), y), -1)


def joined_and_kept(x, y):
    kept = torch.tanh(x)
    return torch.cat((kept, y), -1), kept


def compiled_code(function, inputs):
    """The result of the function as compiled anew to kernels, and the number of its kernels."""
    from torch._inductor.utils import fresh_cache, run_and_get_code

    torch._dynamo.reset()
    compiled = torch.compile(function, options={"cpu_backend": "triton"})
    with fresh_cache():
        result, code = run_and_get_code(compiled, *inputs)
    return result, "".join(code).count("@triton.jit")


@pytest.mark.parametrize("widths, kernels", [((32, 48), 1), ((32, 31), 3), ((1, 16), 3)])
def test_concatenations_of_whole_vectors_are_one_kernel(widths, kernels, cpp_afterwards):
    inputs = [torch.randn(7, width) for width in widths]
    for enabled in (True, False):
        triton.enable_cpu_backend(enabled)
        result, count = compiled_code(joined, inputs)
        torch.testing.assert_close(result, joined(*inputs))
        assert count == (kernels if enabled else 3)


@pytest.mark.parametrize("function", [joined_results, joined_and_kept])
def test_concatenations_that_would_compute_twice_stay(function, cpp_afterwards):
    inputs = torch.randn(7, 32), torch.randn(7, 48)
    counts = []
    for enabled in (True, False):
        triton.enable_cpu_backend(enabled)
        result, count = compiled_code(function, inputs)
        torch.testing.assert_close(result, function(*inputs))
        counts.append(count)
    assert counts[0] == counts[1] > 1


@pytest.mark.parametrize("dim", [0, 1, -2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
def test_concatenations_have_the_same_elements(dim, dtype, cpp_afterwards):
    triton.enable_cpu_backend()
    tensors = [(100 * torch.randn(16, 32, 5)).to(dtype) for _ in range(3)]
    result, count = compiled_code(lambda *inputs: torch.cat(inputs, dim) + 1, tensors)
    torch.testing.assert_close(result, torch.cat(tensors, dim) + 1)
    assert count == 1
