"""Matmuls under the names that benchmarks import: `triton._C.libtriton.nvidia.cublas.CublasLt`."""
# SPDX-License-Identifier: MIT

import pytest
import torch
import triton  # noqa: F401
from triton._C.libtriton import nvidia

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


def operands(device, dtype, m=33, n=17, k=64):
    generator = torch.Generator().manual_seed(0)
    a, b, c = (torch.randn(shape, generator=generator) for shape in ((m, k), (n, k), (m, n)))
    return a.to(device, dtype), b.to(device, dtype), c.to(device, dtype)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_matmul_takes_the_right_operand_transposed(device, dtype):
    a, b, out = operands(device, dtype)
    cublas = nvidia.cublas.CublasLt(torch.empty(1024, dtype=torch.uint8, device=device))
    assert cublas.matmul(a, b, out) is None
    torch.testing.assert_close(out.double(), a.double() @ b.double().T, rtol=2e-2, atol=2e-1 if dtype != torch.float32 else 5e-2)


@pytest.mark.parametrize("device", DEVICES)
def test_gemm_adds_a_third_operand(device):
    a, b, c = operands(device, torch.float16)
    out = torch.empty_like(c)
    nvidia.cublas.CublasLt(torch.empty(16, device=device)).gemm(a, b, c, out, 0.5, 2.0)
    torch.testing.assert_close(out.double(), 0.5 * (a.double() @ b.double().T) + 2 * c.double(), rtol=2e-2, atol=2e-1)


@pytest.mark.skipif(not torch.cuda.is_available() or torch.cuda.get_device_capability() < (8, 9), reason="no GPU with fp8")
def test_matmul_of_fp8():
    a, b, _ = operands("cuda", torch.float8_e4m3fn, m=32, n=16, k=64)
    out = torch.empty(32, 16, dtype=torch.float8_e4m3fn, device="cuda")
    nvidia.cublas.CublasLt(torch.empty(16, device="cuda")).matmul(a, b, out)
    torch.testing.assert_close(out.double(), a.double() @ b.double().T, rtol=0.1, atol=0.5)


def test_shapes_that_do_not_fit_are_named():
    a, b, out = operands("cpu", torch.float16)
    with pytest.raises(RuntimeError, match=r"\[M, K\] and \[N, K\]"):
        nvidia.cublas.CublasLt(a).matmul(a, b.T, out)
    with pytest.raises(RuntimeError, match=r"of these operands it is \(33, 17\)"):
        nvidia.cublas.CublasLt(a).matmul(a, b, out.T)
    with pytest.raises(AttributeError, match="no attribute 'passes'"):
        nvidia.passes  # noqa: B018
