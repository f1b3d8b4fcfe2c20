"""Functions that move elements: shapes, transposes, broadcasts, single elements."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def transform(x_ptr, out_ptr, FUNCTION: tl.constexpr, SHAPE: tl.constexpr, COUNT: tl.constexpr):
    """Applies the function to x in SHAPE; input and output are flat arrays."""
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, SHAPE[0] * SHAPE[1])), SHAPE)
    y = FUNCTION(x)
    tl.store(out_ptr + tl.arange(0, COUNT), tl.reshape(y, (COUNT,)))


def check_shape(function, shape, reference, device):
    x = values("float32", *shape)
    expected = np.ascontiguousarray(reference(x)).reshape(-1)
    arguments = dict(x_ptr=x.reshape(-1), out_ptr=np.zeros_like(expected), FUNCTION=function)
    arguments |= dict(SHAPE=shape, COUNT=expected.size)
    check(transform, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def same(x):
    return x


@triton.jit
def transposed(x):
    return tl.trans(x)


@triton.jit
def transposed_attribute(x):
    return x.T


@triton.jit
def transposed_method(x):
    return x.trans(1, 0)


@triton.jit
def permuted(x):
    return tl.permute(x, (1, 0))


@triton.jit
def permuted_method(x):
    return x.permute(1, 0)


@triton.jit
def regrouped(x):
    return tl.trans(tl.reshape(x, (x.shape[0] * x.shape[1] // 2, 2)))


@triton.jit
def regrouped_methods(x):
    return x.reshape(2, x.shape[0] * x.shape[1] // 2).trans()


@triton.jit
def viewed(x):
    return tl.view(x, [x.shape[0] * x.shape[1]]) + x.view(x.shape[0] * x.shape[1])


@triton.jit
def raveled(x):
    return tl.ravel(x) + x.ravel()


@triton.jit
def cycled(x):
    cube = tl.reshape(x, (2, x.shape[0] // 2, x.shape[1]))
    return tl.permute(cube, 2, 0, 1)


@triton.jit
def cycled_back(x):
    cube = x.reshape((x.shape[0], 2, x.shape[1] // 2))
    return tl.trans(cube, 1, 2, 0)



def name_of(function):
    return getattr(function, "__name__", "").replace("<lambda>", "numpy")


UNITS = [
    (same, lambda x: x),
    (transposed, lambda x: x.T),
    (transposed_attribute, lambda x: x.T),
    (transposed_method, lambda x: x.T),
    (permuted, lambda x: x.T),
    (permuted_method, lambda x: x.T),
    (regrouped, lambda x: x.reshape(-1, 2).T),
    (regrouped_methods, lambda x: x.reshape(2, -1).T),
    (viewed, lambda x: x + x),
    (raveled, lambda x: x + x),
    (cycled, lambda x: x.reshape(2, x.shape[0] // 2, x.shape[1]).transpose(2, 0, 1)),
    (cycled_back, lambda x: x.reshape(x.shape[0], 2, x.shape[1] // 2).transpose(1, 2, 0)),
]


@pytest.mark.parametrize("shape", [(2, 2), (4, 8), (16, 2), (2, 64), (32, 32)])
@pytest.mark.parametrize("function, reference", UNITS, ids=name_of)
def test_order_of_elements(function, reference, shape, device):
    check_shape(function, shape, reference, device)


@triton.jit
def add_row(x):
    return x + tl.broadcast_to(tl.arange(0, x.shape[1])[None, :], x.shape)


@triton.jit
def add_column(x):
    return x + tl.expand_dims(tl.arange(0, x.shape[0]), 1).broadcast_to(x.shape[0], x.shape[1])


@triton.jit
def add_both(x):
    row, column = tl.broadcast(
        tl.arange(0, x.shape[1]).expand_dims(0), tl.expand_dims(tl.arange(0, x.shape[0]), -1)
    )
    return x + row * column


@triton.jit
def add_scalar_broadcast(x):
    return x + tl.broadcast_to(tl.program_id(0) + 3, x.shape)


@triton.jit
def squeezed(x):
    return tl.squeeze(tl.unsqueeze(x, 1), 1) + tl.squeeze(tl.unsqueeze(x, -1), -1)


@triton.jit
def expanded_twice(x):
    cube = tl.expand_dims(x, (0, 2))
    return cube + cube


@triton.jit
def indexed(x):
    return (x[None, :, :] + x[:, None, :]) * 1.0


BROADCASTS = [
    (add_row, lambda x: x + np.arange(x.shape[1])),
    (add_column, lambda x: x + np.arange(x.shape[0])[:, None]),
    (add_both, lambda x: x + np.outer(np.arange(x.shape[0]), np.arange(x.shape[1]))),
    (add_scalar_broadcast, lambda x: x + 3),
    (squeezed, lambda x: x + x),
    (expanded_twice, lambda x: x + x),
    (indexed, lambda x: x[None] + x[:, None]),
]


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (8, 1), (4, 16)])
@pytest.mark.parametrize("function, reference", BROADCASTS, ids=name_of)
def test_broadcasts(function, reference, shape, device):
    check_shape(function, shape, lambda x: reference(x).astype(np.float32), device)


@triton.jit
def items(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 1))
    tl.store(out_ptr, x.item() + 1)
    tl.store(out_ptr + 1, tl.reshape(x, ()) + 2)
    tl.store(out_ptr + 2, x[:, None].item() * 2)


def test_one_element_as_a_scalar(device):
    arguments = dict(x_ptr=np.array([5.0], np.float32), out_ptr=np.zeros(3, np.float32))
    expected = np.array([6, 7, 10], np.float32)
    check(items, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def shape_of(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    tl.store(out_ptr, x.shape[0] * 100 + x.shape[1])
    tl.store(out_ptr + 1, x.numel + len(x.shape))
    tl.store(out_ptr + 2, x.T.shape[0])
    tl.store(out_ptr + 3, x.dtype == tl.float32)


def test_shape_and_type_are_constants(device):
    arguments = dict(x_ptr=values("float32", 4, 8), out_ptr=np.zeros(4, np.int32))
    arguments |= dict(ROWS=4, COLUMNS=8)
    expected = np.array([408, 34, 8, 1], np.int32)
    check(shape_of, (1,), arguments, dict(out_ptr=expected), device=device)
