"""The documented example of a kernel in a graph, and variants: other sizes, types, scalars, larger graphs."""
# SPDX-License-Identifier: MIT

import importlib.util
import os
import runpy
import sys

import pytest
import torch
import torch_xla
import torch_xla.experimental.triton as xla_triton
import triton
import triton.language as tl
from _add import add_kernel


@triton.jit
def scale_kernel(x_ptr, output_ptr, n_elements, factor, shift, negate, BY: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    value = tl.load(x_ptr + offsets, mask=mask) * factor * BY + shift
    tl.store(output_ptr + offsets, tl.where(negate, -value, value), mask=mask)


def added(x, y, block_size=8, **more):
    """The call as in the documentation."""
    output = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), block_size),)
    payload = xla_triton.triton_call(
        x, y, output, x.numel(), kernel=add_kernel, grid=grid, BLOCK_SIZE=block_size, **more
    )
    return torch_xla._XLAC._xla_gpu_custom_call([x, y], payload, [output.shape], [output.dtype])[0]


def scaled(x, factor, shift=0, negate=False, BY=1, **more):
    payload = xla_triton.triton_call(
        x, x, x.numel(), factor, shift, negate, kernel=scale_kernel,
        grid=lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),), BY=BY, BLOCK_SIZE=64, **more,
    )  # fmt: skip
    return torch_xla._XLAC._xla_gpu_custom_call([x], payload, [x.shape], [x.dtype])[0]


def test_the_page():
    size = 16
    x = torch.arange(size, dtype=torch.int64).to("xla")
    y = torch.arange(size, dtype=torch.int64).to("xla")
    output = torch.empty_like(x)
    block_size = 8
    grid = (triton.cdiv(size, block_size),)
    payload = xla_triton.triton_call(
        x, y, output, size, kernel=add_kernel, grid=grid, BLOCK_SIZE=block_size)  # fmt: skip
    assert isinstance(payload, bytes)
    output = torch_xla._XLAC._xla_gpu_custom_call([x, y], payload, [output.shape], [torch.int64])
    assert len(output) == 1 and output[0].device.type == "xla"
    assert torch.equal(output[0].cpu(), 2 * torch.arange(size))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int8, torch.uint8])
@pytest.mark.parametrize("size", [1, 1000])
def test_sizes_and_types(size, dtype):
    values = torch.arange(size).remainder(50).to(dtype)
    output = added(values.to("xla"), values.to("xla"), 128)
    assert output.dtype is dtype and torch.equal(output.cpu(), values + values)


def test_views_come_as_their_own_rows():
    values = torch.arange(24, dtype=torch.int32).reshape(4, 6)
    whole = values.to("xla")
    assert torch.equal(added(whole.t(), whole.t()).cpu(), 2 * values.t())
    assert torch.equal(added(whole[1:3, 1:4], whole[2:4, 2:5]).cpu(), values[1:3, 1:4] + values[2:4, 2:5])


def test_a_node_among_others():
    values = torch.arange(16, dtype=torch.float32)
    x = values.to("xla")
    assert torch.equal((added(x + 1, x * 2) * 3 - x).cpu(), (values + 1 + values * 2) * 3 - values)
    assert torch.equal(added(added(x, x), added(x, x)).cpu(), values * 4)


def test_two_payloads_of_the_same_shapes_run_their_own_kernels():
    """PyTorch/XLA distinguishes graphs by the names of their custom calls, not by their payloads."""
    values = torch.arange(16, dtype=torch.float32)
    x = values.to("xla")
    both = scaled(x, 2.0, BY=3), scaled(x, 2.0, BY=5)
    assert torch.equal(torch.stack(both).cpu(), torch.stack([values * 6, values * 10]))
    # Each again in its own graph, where one could be mistaken for the other.
    for by in (3, 5, 7):
        torch_xla.sync()
        assert torch.equal(scaled(x, 2.0, BY=by).cpu(), values * 2 * by)
    torch_xla.sync()
    assert torch.equal(added(x, x).cpu(), values * 2)


@pytest.mark.parametrize("factor", [0.5, -1.25, 3.1415927])
def test_floats_are_as_wide_as_the_kernel_takes_them(factor):
    values = torch.arange(100, dtype=torch.float32)
    expected = values * torch.tensor(factor, dtype=torch.float32)
    assert torch.equal(scaled(values.to("xla"), factor).cpu(), expected)


@pytest.mark.parametrize(("shift", "negate"), [(1, True), (0, False), (-7, True), (2**40, True)])
def test_integers_and_truth_values(shift, negate):
    values = torch.arange(100, dtype=torch.int64)
    expected = values * 3 + shift
    found = scaled(values.to("xla"), 3, shift, negate).cpu()
    assert torch.equal(found, -expected if negate else expected)


def test_grids():
    values = torch.arange(16, dtype=torch.int64)
    x = values.to("xla")
    for grid in (2, (2,), (2, 1), [2, 1, 1], lambda meta: (16 // meta["BLOCK_SIZE"],)):
        payload = xla_triton.triton_call(x, x, x, 16, kernel=add_kernel, grid=grid, BLOCK_SIZE=8)
        (output,) = torch_xla._XLAC._xla_gpu_custom_call([x, x], payload, [x.shape], [x.dtype])
        assert torch.equal(output.cpu(), 2 * values)


def test_tuned_kernels_and_heuristics():
    values = torch.arange(1000, dtype=torch.float32)
    x = values.to("xla")
    configs = [triton.Config({"BLOCK_SIZE": size}) for size in (32, 256)]
    tuned = triton.autotune(configs, key=["n_elements"])(add_kernel)
    computed = triton.heuristics({"BLOCK_SIZE": lambda args: 64})(add_kernel)
    for kernel in (tuned, computed):
        payload = xla_triton.triton_call(
            x, x, x, 1000, kernel=kernel, grid=lambda meta: (triton.cdiv(1000, meta["BLOCK_SIZE"]),)
        )
        (output,) = torch_xla._XLAC._xla_gpu_custom_call([x, x], payload, [x.shape], [x.dtype])
        assert torch.equal(output.cpu(), 2 * values)


def test_inside_a_compiled_function():
    @torch.compile(backend="openxla")
    def double_sum(x, y):
        return added(x * 2, y) + 1

    values = torch.arange(16, dtype=torch.int64)
    x = values.to("xla")
    assert torch.equal(double_sum(x, x).cpu(), values * 3 + 1)


def test_the_module_is_ours_and_the_setting_leaves_it_out(monkeypatch):
    assert os.path.basename(xla_triton.__file__) == "torch_xla_experimental.py"
    monkeypatch.delitem(sys.modules, "torch_xla.experimental.triton")
    assert importlib.util.find_spec("torch_xla.experimental.triton").origin == xla_triton.__file__
    with triton.knobs.xla.scope():
        triton.knobs.xla.compat = False
        theirs = importlib.util.find_spec("torch_xla.experimental.triton")
    folder = os.path.dirname(torch_xla.__file__)
    own = os.path.join(folder, "experimental", "triton.py")
    assert (theirs.origin if theirs else None) == (own if os.path.exists(own) else None)


def test_the_example(capsys):
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
    runpy.run_path(os.path.join(root, "examples", "torch_xla_add.py"))
    assert "added 1000 numbers" in capsys.readouterr().out
