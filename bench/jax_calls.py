"""Time of a Triton kernel's call in a JAX program, next to the kernel's own: the overhead of a
call.

usage: jax_calls.py triton.jax|jax_triton     prints one line of JSON: microseconds per call of each
round, by case

The Python path selects the triton that jax_triton uses; test/scripts/xla_on_gpu.py alternates the two
and compares.
"""
# SPDX-License-Identifier: MIT

import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import triton
import triton.language as tl

CALLS, ROUNDS, CHAIN = 300, 9, 20


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at) + tl.load(y_ptr + at))


def function_of(which):
    if which == "triton.jax":
        from triton.jax import triton_call

        return triton_call, {}
    import jax_triton

    key = "out_shape" if jax_triton.__version__ < "0.4" else "out_type"
    return jax_triton.triton_call, {"key": key}


def make_add(which):
    call, config = function_of(which)
    key = config.get("key", "out_type")

    def add(x, y):
        out = {key: jax.ShapeDtypeStruct(x.shape, x.dtype)}
        return call(x, y, kernel=add_kernel, grid=(x.size // 1024,), BLOCK=1024, **out)

    return add


def microseconds(fn, *args):
    """Per call, in each of several rounds of many calls; the rounds of one case are consecutive."""
    for _ in range(CALLS):  # caches, clocks, and XLA's own decisions about graphs
        fn(*args).block_until_ready()
    rounds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(CALLS):
            out = fn(*args)
        out.block_until_ready()
        rounds.append((time.perf_counter() - began) / CALLS * 1e6)
    return rounds


def main():
    add = make_add(sys.argv[1])

    def chain(x, y):
        for _ in range(CHAIN):
            x = add(x, y)
        return x

    small, large = jnp.ones(1024, jnp.float32), jnp.ones(1 << 20, jnp.float32)
    np.testing.assert_array_equal(jax.jit(chain)(small, small), np.full(1024, CHAIN + 1))
    times = {
        "one small call": microseconds(jax.jit(add), small, small),
        "one large call": microseconds(jax.jit(add), large, large),
        "a call of a chain": [each / CHAIN for each in microseconds(jax.jit(chain), small, small)],
    }
    print(json.dumps({"versions": [jax.__version__, triton.__version__], "microseconds": times}))


if __name__ == "__main__":
    main()
