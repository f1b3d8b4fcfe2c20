"""Flash attention through payloads and nodes, random data, against float32 in plain torch."""
# SPDX-License-Identifier: MIT

import pytest
import torch
import torch_xla
from _nodes import backward, forward, reference

# The first is the shape of PyTorch/XLA's own test; the others have a single row, tails and other types.
SHAPES = [
    ((1, 2, 1024, 64), torch.float16, 0.5),
    ((2, 3, 100, 32), torch.float32, 0.18),
    ((1, 2, 1, 64), torch.float16, 0.5),
    ((2, 1, 257, 128), torch.bfloat16, 0.09),
]
# GPUs multiply float32 as tf32 by default.
ON_CPU = torch_xla.runtime.device_type() == "CPU"
TOLERANCE = {torch.float16: 1e-2, torch.bfloat16: 4e-2, torch.float32: 1e-4 if ON_CPU else 5e-3}


def make(shape, dtype, count, seed=20):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator).mul_(0.5).to(dtype) for _ in range(count)]


def agree(actual, expected, dtype):
    torch.testing.assert_close(actual.cpu().float(), expected, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("stage", [1, 3])
@pytest.mark.parametrize(("shape", "dtype", "scale"), SHAPES)
def test_forward(shape, dtype, scale, stage):
    q, k, v = make(shape, dtype, 3)
    m, out = forward(*(tensor.to("xla") for tensor in (q, k, v)), scale, stage)
    expected_m, expected = reference(q, k, v, scale, stage)
    assert (m.shape, m.dtype) == (shape[:3], torch.float32)
    assert (out.shape, out.dtype) == (shape, dtype)
    agree(out, expected, dtype)
    agree(m, expected_m, dtype)


@pytest.mark.parametrize("stage", [1, 3])
@pytest.mark.parametrize(("shape", "dtype", "scale"), SHAPES)
def test_backward(shape, dtype, scale, stage):
    q, k, v, d_out = make(shape, dtype, 4)
    wanted = [tensor.float().requires_grad_() for tensor in (q, k, v)]
    reference(*wanted, scale, stage)[1].backward(d_out.float())
    on_xla = [tensor.to("xla") for tensor in (q, k, v)]
    m, out = forward(*on_xla, scale, stage)
    found = backward(*on_xla, scale, stage, m, out, d_out.to("xla"))
    for tensor, origin in zip(found, wanted, strict=True):
        assert (tensor.shape, tensor.dtype) == (shape, dtype)
        agree(tensor, origin.grad, dtype)


def test_as_a_function_with_a_gradient():
    """Forward and backward joined by torch.autograd, in a graph with operations of torch's own."""

    class Attention(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, k, v):
            m, out = forward(q, k, v, 0.2, 3)
            ctx.save_for_backward(q, k, v, m, out)
            return out

        @staticmethod
        def backward(ctx, d_out):
            q, k, v, m, out = ctx.saved_tensors
            return backward(q, k, v, 0.2, 3, m, out, d_out.contiguous())

    q, k, v, weight = make((1, 2, 64, 32), torch.float32, 4)
    wanted = [tensor.clone().requires_grad_() for tensor in (q, k, v)]
    (reference(*wanted, 0.2, 3)[1] * weight).sum().backward()
    found = [tensor.to("xla").detach().requires_grad_() for tensor in (q, k, v)]
    (Attention.apply(*found) * weight.to("xla")).sum().backward()
    for tensor, origin in zip(found, wanted, strict=True):
        agree(tensor.grad, origin.grad, torch.float32)
