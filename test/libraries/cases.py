"""Cases of the drivers: their registry, their inputs and the comparison with a torch reference."""
# SPDX-License-Identifier: MIT

import importlib.util
import itertools
import sys
import types
import zlib

import torch

CASES = {}
DEVICE = "cpu"

f16, bf16, f32 = torch.float16, torch.bfloat16, torch.float32

# Relative root-mean-square errors from the rounding of a dtype; f32 is that of tf32 dots.
TOLERANCE = {torch.float32: 2e-3, torch.float16: 5e-3, torch.bfloat16: 2e-2, torch.float64: 1e-9}


def case(**choices):
    """Registers a function once for every combination of its parameters."""

    def register(function):
        for values in itertools.product(*choices.values()):
            chosen = dict(zip(choices, values, strict=False))
            words = [str(value).replace("torch.", "").replace(" ", "") for value in values]
            CASES["-".join([function.__name__, *words])] = (function, chosen)
        return function

    return register


def run(name):
    function, chosen = CASES[name]
    torch.manual_seed(zlib.crc32(name.encode()))
    function(**chosen)


def skip_init(name):
    """Makes modules of a package importable without its `__init__`."""
    package = types.ModuleType(name)
    package.__path__ = list(importlib.util.find_spec(name).submodule_search_locations)
    sys.modules[name] = package


def normal(*shape, dtype=f32, scale=1.0, grad=True):
    """A random tensor on the device; the numbers are the same on every device."""
    values = (torch.randn(*shape, device="cpu") * scale).to(dtype)
    return on_device(values).requires_grad_(grad)


def integers(low, high, shape, dtype=torch.int64):
    return on_device(torch.randint(low, high, shape, dtype=dtype, device="cpu"))


def on_device(values):
    return values.clone().to(DEVICE)


def as_list(values):
    values = values if isinstance(values, (tuple, list)) else [values]
    return [value for value in values if isinstance(value, torch.Tensor)]


def close(actual, expected, tolerance, name="result"):
    """Asserts that `actual` is finite where `expected` is and near it in the root mean square."""
    actual, expected = actual.detach().cpu().double(), expected.detach().cpu().double()
    assert actual.shape == expected.shape, (
        f"{name}: shape {tuple(actual.shape)}, expected {tuple(expected.shape)}"
    )
    finite = expected.isfinite()
    assert torch.equal(actual.isfinite(), finite), (
        f"{name}: {int((~actual.isfinite()).sum())} values are not finite"
    )
    actual, expected = actual[finite], expected[finite]
    if expected.numel() == 0:
        return
    size = expected.square().mean().sqrt().item()
    error = (actual - expected).square().mean().sqrt().item()
    assert error <= tolerance * size + 1e-6, (
        f"{name}: relative error {error / max(size, 1e-30):.2e}"
    )


def equal(actual, expected, name="result"):
    actual, expected = actual.cpu(), expected.cpu()
    assert torch.equal(actual, expected.to(actual.dtype)), (
        f"{name}: {int((actual != expected).sum())} values differ"
    )


def same(function, reference, inputs, tolerance=None, backward=True):
    """Compares results and gradients of `function` with those of `reference`, which runs on f32 copies on the CPU."""
    dtype = next(
        (x.dtype for x in inputs if isinstance(x, torch.Tensor) and x.is_floating_point()),
        torch.float32,
    )
    tolerance = tolerance or TOLERANCE[dtype]

    def copy(x):
        if not isinstance(x, torch.Tensor):
            return x
        values = x.detach().cpu().clone()
        return (
            values.float().requires_grad_(x.requires_grad) if values.is_floating_point() else values
        )

    copies = [copy(x) for x in inputs]
    expected = as_list(reference(*copies))
    mine = [
        x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x
        for x in inputs
    ]
    # Libraries that work in place need non-leaf tensors.
    passed = [x * 1 if isinstance(x, torch.Tensor) and x.requires_grad else x for x in mine]
    actual = as_list(function(*passed))
    assert len(actual) == len(expected), f"{len(actual)} results, expected {len(expected)}"
    kept = [value.detach().clone() for value in actual]
    for k, (value, wanted) in enumerate(zip(kept, expected, strict=False)):
        close(value, wanted, tolerance, f"result {k}")
    pairs = [(a, b) for a, b in zip(actual, expected, strict=False) if b.requires_grad]
    if not backward or not pairs:
        return
    upstream = [torch.randn(b.shape, device="cpu") for _, b in pairs]
    torch.autograd.backward(
        [a for a, _ in pairs],
        [on_device(u.to(a.dtype)) for u, (a, _) in zip(upstream, pairs, strict=False)],
    )
    torch.autograd.backward(
        [b for _, b in pairs],
        [u.to(a.dtype).float() for u, (a, _) in zip(upstream, pairs, strict=False)],
    )
    for k, (x, copied) in enumerate(zip(mine, copies, strict=False)):
        if isinstance(x, torch.Tensor) and x.requires_grad and copied.grad is not None:
            assert x.grad is not None, f"gradient {k} is missing"
            close(x.grad, copied.grad, 2 * tolerance, f"gradient {k}")
