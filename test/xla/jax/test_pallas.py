"""TTIR from Pallas: kernels that do not come from our front end compile for the CPU and for a GPU."""
# SPDX-License-Identifier: MIT

import os
import re
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import triton
from jax.experimental import pallas as pl
from triton.backends.compiler import GPUTarget

plt = pytest.importorskip("jax.experimental.pallas.triton")
AbstractDevice = pytest.importorskip("jax._src.mesh").AbstractDevice
dialect = pytest.importorskip("jaxlib.triton.dialect")


def _matmul(x_ref, y_ref, out_ref):
    out_ref[...] = jnp.dot(x_ref[...], y_ref[...]).astype(out_ref.dtype)


def _softmax(x_ref, out_ref):
    powers = jnp.exp(x_ref[...] - jnp.max(x_ref[...], axis=-1, keepdims=True))
    out_ref[...] = powers / jnp.sum(powers, axis=-1, keepdims=True)


def _gelu(x_ref, out_ref):
    x = x_ref[...]
    out_ref[...] = 0.5 * x * (1 + jnp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def _masked_add(x_ref, y_ref, out_ref):
    at = pl.program_id(0) * 64 + jnp.arange(64)
    keep = at < 100
    x = plt.load(x_ref.at[at], mask=keep, other=0.0)
    plt.store(out_ref.at[at], x + plt.load(y_ref.at[at], mask=keep, other=0.0), mask=keep)


def _loop(x_ref, out_ref):
    def body(i, total):
        return total * 0.5 + x_ref[i, :]

    out_ref[...] = jax.lax.fori_loop(
        0, x_ref.shape[0], body, jnp.zeros(x_ref.shape[1:], x_ref.dtype)
    )


def _bits(x_ref, out_ref):
    x = x_ref[...]
    out_ref[...] = jnp.where((x & 1) == 0, x >> 1, 3 * x + 1) ^ (x << 2)


def _scale_rows(x_ref, scale_ref, out_ref):
    out_ref[...] = (x_ref[...].astype(jnp.float32) * scale_ref[...][:, None]).astype(out_ref.dtype)


def values(dtype, *shape):
    numbers = np.random.default_rng(len(shape)).standard_normal(shape) * 8
    return np.asarray(jnp.asarray(numbers, dtype))


def call(kernel, out, grid=1, ins=None, outs=None):
    more = {"in_specs": ins, "out_specs": outs} if ins else {}

    def run(*args):
        params = plt.CompilerParams(num_warps=4, num_stages=2)
        return pl.pallas_call(kernel, out_shape=out, grid=grid, compiler_params=params, **more)(
            *args
        )

    return run


F32 = jnp.float32
CASES = {
    "matmul": (
        call(
            _matmul,
            jax.ShapeDtypeStruct((64, 64), F32),
            (2, 2),
            [
                pl.BlockSpec((32, 64), lambda i, j: (i, 0)),
                pl.BlockSpec((64, 32), lambda i, j: (0, j)),
            ],
            pl.BlockSpec((32, 32), lambda i, j: (i, j)),
        ),
        [values(jnp.float16, 64, 64), values(jnp.float16, 64, 64)],
        (2, 2, 1),
        lambda x, y: x.astype(np.float32) @ y.astype(np.float32),
    ),
    "softmax": (
        call(_softmax, jax.ShapeDtypeStruct((8, 128), F32)),
        [values(F32, 8, 128)],
        (1, 1, 1),
        lambda x: (
            np.exp(x - x.max(-1, keepdims=True))
            / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)
        ),
    ),
    "gelu": (
        call(_gelu, jax.ShapeDtypeStruct((256,), F32)),
        [values(F32, 256)],
        (1, 1, 1),
        lambda x: 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x))),
    ),
    "masked_add": (
        call(_masked_add, jax.ShapeDtypeStruct((128,), F32), (2,)),
        [values(F32, 128), values(F32, 128)],
        (2, 1, 1),
        lambda x, y: np.where(np.arange(128) < 100, x + y, 0),
    ),
    "loop": (
        call(_loop, jax.ShapeDtypeStruct((64,), F32)),
        [values(F32, 16, 64)],
        (1, 1, 1),
        lambda x: sum(row * 0.5 ** (15 - i) for i, row in enumerate(x)),
    ),
    "bits": (
        call(_bits, jax.ShapeDtypeStruct((64,), jnp.int32)),
        [values(jnp.int32, 64)],
        (1, 1, 1),
        lambda x: np.where(x % 2 == 0, x // 2, 3 * x + 1) ^ (x * 4),
    ),
    "scale_rows": (
        call(_scale_rows, jax.ShapeDtypeStruct((16, 32), jnp.bfloat16)),
        [values(jnp.bfloat16, 16, 32), values(F32, 16)],
        (1, 1, 1),
        lambda x, s: np.asarray(
            jnp.asarray(x.astype(np.float32) * s[:, None], jnp.bfloat16)
        ).astype(np.float32),
    ),
}


def abstract_gpu():
    try:
        device = AbstractDevice(device_kind="NVIDIA H200", num_cores=132, platform="gpu")
    except TypeError:
        device = AbstractDevice("NVIDIA H200", None)
    axes = (jax.sharding.AxisType.Auto,)
    return jax.sharding.AbstractMesh((1,), ("x",), axis_types=axes, abstract_device=device)


def ttir_of(fn, args, path):
    """The TTIR that Pallas passes to XLA, as text in a file."""
    from jax._src.lib.mlir import ir
    from test_jax_triton import unescaped

    with warnings.catch_warnings(), jax.sharding.use_abstract_mesh(abstract_gpu()):
        warnings.simplefilter("ignore")
        types = [jax.ShapeDtypeStruct(arg.shape, arg.dtype) for arg in args]
        text = jax.jit(fn).trace(*types).lower(lowering_platforms=("cuda",)).as_text()
    bytecode = unescaped(re.search(r'ir = "((?:[^"\\]|\\.)*)"', text)[1])
    context = ir.Context()
    dialect.register_dialect(context)
    context.load_all_available_dialects()
    with context:
        path.write_text(str(ir.Module.parse(bytecode)))
    return os.fspath(path)


@pytest.mark.parametrize("name", CASES)
def test_runs_on_the_cpu(name, tmp_path, on_cpu):
    fn, args, grid, expected = CASES[name]
    out = np.zeros(jax.eval_shape(fn, *args).shape, jax.eval_shape(fn, *args).dtype)
    path = ttir_of(fn, args, tmp_path / f"{name}.ttir")
    kernel = triton.compile(
        path, target=triton.runtime.driver.for_device("cpu").get_current_target()
    )
    kernel[grid](*args, out)
    np.testing.assert_allclose(
        out.astype(np.float32), expected(*args), rtol=1e-2 if name == "matmul" else 1e-5, atol=1e-5
    )


@pytest.mark.parametrize("name", CASES)
def test_compiles_for_a_gpu(name, tmp_path):
    fn, args, _, _ = CASES[name]
    path = ttir_of(fn, args, tmp_path / f"{name}.ttir")
    kernel = triton.compile(path, target=GPUTarget("cuda", 90, 32))
    assert f".entry {kernel.name}(" in kernel.asm["ptx"]


def test_runs_on_a_gpu(tmp_path, device):
    """Compares with Pallas's own interpreter on the same machine."""
    if device == "cpu":
        pytest.skip("needs a GPU")
    cupy_like = pytest.importorskip("torch")
    for name, (fn, args, grid, expected) in CASES.items():
        path = ttir_of(fn, args, tmp_path / f"{name}.ttir")
        kernel = triton.compile(path, target=GPUTarget("cuda", 90, 32))
        shape = jax.eval_shape(fn, *args)
        if any(arg.dtype == jnp.bfloat16 for arg in args):
            continue  # torch does not accept numpy's bfloat16
        given = [cupy_like.from_numpy(arg.copy()).cuda() for arg in args]
        out = cupy_like.zeros(
            shape.shape, dtype=getattr(cupy_like, str(shape.dtype)), device="cuda"
        )
        kernel[grid](*given, out)
        np.testing.assert_allclose(
            out.cpu().numpy(), expected(*args), rtol=2e-2 if name == "matmul" else 1e-4, atol=1e-4
        )
