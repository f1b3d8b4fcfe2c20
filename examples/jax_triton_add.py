"""Vector add with jax_triton's own function and this package as its triton; also runs on a CPU."""
# SPDX-License-Identifier: MIT

import jax
import jax.numpy as jnp
import jax_triton as jt
import numpy as np
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at) + tl.load(y_ptr + at))


def add(x, y):
    out = jax.ShapeDtypeStruct(x.shape, x.dtype)
    # jax_triton 0.4 names it out_type.
    results = {"out_shape": out} if jt.__version__ < "0.4" else {"out_type": out}
    return jt.triton_call(x, y, kernel=add_kernel, grid=(x.size // 128,), BLOCK=128, **results)


x = jnp.arange(1024, dtype=jnp.float32)
np.testing.assert_array_equal(jax.jit(add)(x, x), 2 * np.arange(1024))
print(f"jax_triton {jt.__version__} added 1024 numbers on {jax.devices()[0].platform}")
