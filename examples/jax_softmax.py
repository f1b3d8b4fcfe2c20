"""Softmax in JAX: a kernel each for forward and backward, under jax.jit, jax.grad and shard_map; on
a CPU or on NVIDIA GPUs.
"""
# SPDX-License-Identifier: MIT

import functools

import jax
import jax.numpy as jnp
import numpy as np
import triton
import triton.language as tl
from triton.jax import triton_call


@triton.jit
def forward_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < columns
    x = tl.load(x_ptr + at, mask=inside, other=-float("inf"))
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + at, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def backward_kernel(y_ptr, grad_y_ptr, grad_x_ptr, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < columns
    y = tl.load(y_ptr + at, mask=inside, other=0.0)
    grad_y = tl.load(grad_y_ptr + at, mask=inside, other=0.0)
    tl.store(grad_x_ptr + at, y * (grad_y - tl.sum(y * grad_y, axis=0)), mask=inside)


def _by_rows(kernel, *arrays):
    rows, columns = arrays[0].shape
    return triton_call(
        *arrays,
        columns=columns,
        kernel=kernel,
        out_type=jax.ShapeDtypeStruct((rows, columns), arrays[0].dtype),
        grid=(rows,),
        BLOCK=triton.next_power_of_2(columns),
    )


@jax.custom_vjp
def softmax(x):
    return _by_rows(forward_kernel, x)


def _softmax_forward(x):
    y = softmax(x)
    return y, y


def _softmax_backward(y, grad_y):
    return (_by_rows(backward_kernel, y, grad_y),)


softmax.defvjp(_softmax_forward, _softmax_backward)


def main():
    x, weights = jnp.asarray(np.random.default_rng(0).standard_normal((2, 64, 781)), jnp.float32)
    np.testing.assert_allclose(jax.jit(softmax)(x), jax.nn.softmax(x), atol=1e-6)

    def loss(function, x):
        return (function(x) * weights).sum()

    ours = jax.jit(jax.grad(functools.partial(loss, softmax)))(x)
    np.testing.assert_allclose(
        ours, jax.grad(functools.partial(loss, jax.nn.softmax))(x), atol=1e-6
    )

    devices = np.array(jax.devices())
    mesh, rows = jax.sharding.Mesh(devices, ("rows",)), jax.sharding.PartitionSpec("rows")
    spread = jax.jit(jax.shard_map(softmax, mesh=mesh, in_specs=rows, out_specs=rows))
    np.testing.assert_allclose(spread(np.asarray(x)), jax.nn.softmax(x), atol=1e-6)
    print(
        f"softmax and its gradient agree with jax.nn.softmax on {len(devices)} x {devices[0].platform}"
    )


if __name__ == "__main__":
    main()
