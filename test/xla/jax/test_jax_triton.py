"""The unchanged jax_triton: its calls on the CPU, and lowered for CUDA without a GPU."""
# SPDX-License-Identifier: MIT

import os
import re
import subprocess
import sys
import warnings
import zlib

import _kernels as kernels
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import triton
from triton.xla import read

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    jt = pytest.importorskip("jax_triton")
# From this version on keywords may name arguments, and an aliased result has no parameter of its own.
IS_NEW = tuple(map(int, jt.__version__.split(".")[:2])) >= (0, 4)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def results(*shapes):
    return {"out_type" if IS_NEW else "out_shape": shapes[0] if len(shapes) == 1 else shapes}


def add(x, y, kernel=kernels.scale, **more):
    return jt.triton_call(
        x, 2.0, y, False, x.size, kernel=kernel, grid=lambda meta: (triton.cdiv(100, meta["BLOCK"]),),
        **results(jax.ShapeDtypeStruct(x.shape, x.dtype)), **more,
    )  # fmt: skip


def softmax(x):
    out = jax.ShapeDtypeStruct(x.shape, x.dtype)

    return jt.triton_call(
        x, kernel=_softmax, grid=(x.shape[0],), columns=x.shape[1], BLOCK=128, **results(out)
    )


@triton.jit
def _softmax(x_ptr, out_ptr, columns: triton.language.constexpr, BLOCK: triton.language.constexpr):
    kernels.softmax(x_ptr, out_ptr, columns, BLOCK)


def increment(x):
    kernel = kernels.increment if IS_NEW else kernels.increment_into
    return jt.triton_call(
        x,
        x.size,
        kernel=kernel,
        grid=4,
        BLOCK=32,
        input_output_aliases={0: 0},
        **results(jax.typeof(x)),
    )


def histogram(x):
    return jt.triton_call(
        x, kernel=_histogram, grid=8, n=500, BLOCK=64, zeroed_outputs=(0,),
        **results(jax.ShapeDtypeStruct((7,), jnp.int32)),
    )  # fmt: skip


@triton.jit
def _histogram(x_ptr, counts_ptr, n: triton.language.constexpr, BLOCK: triton.language.constexpr):
    kernels.histogram(x_ptr, counts_ptr, n, BLOCK)


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize("how", [lambda fn: fn, jax.jit], ids=["eager", "jit"])
class TestOnTheCpu:
    def test_scalars(self, how):
        x = jnp.arange(100.0)
        np.testing.assert_allclose(how(lambda x: add(x, 1, BLOCK=32))(x), 2 * x + 1)

    def test_softmax(self, how):
        x = jnp.asarray(np.random.default_rng(0).standard_normal((5, 33)), jnp.float32)
        np.testing.assert_allclose(how(softmax)(x), jax.nn.softmax(x, -1), rtol=1e-5, atol=1e-7)

    def test_aliases(self, how):
        np.testing.assert_array_equal(how(increment)(jnp.arange(100.0)), np.arange(100) + 1)

    def test_zeroed_outputs(self, how):
        x = jnp.asarray(np.random.default_rng(0).integers(0, 7, 500), jnp.int32)
        np.testing.assert_array_equal(how(histogram)(x), np.bincount(x, minlength=7))

    def test_autotuned(self, how):
        x = jnp.arange(100.0)
        tuned = triton.autotune([triton.Config({"BLOCK": size}) for size in (16, 64)], key=["n"])(
            kernels.scale
        )
        np.testing.assert_allclose(how(lambda x: add(x, 1, tuned))(x), 2 * x + 1)


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.skipif(not IS_NEW, reason="this jax_triton has no Refs")
def test_refs():
    @jax.jit
    def run(x):
        ref = jax.new_ref(x)
        jt.triton_call(ref, 100, kernel=kernels.increment, out_type=(), grid=4, BLOCK=32)
        return ref[...]

    np.testing.assert_array_equal(run(jnp.arange(100.0)), np.arange(100) + 1)


def test_the_lowering_can_be_switched_off():
    code = (
        "import warnings; warnings.simplefilter('ignore'); import jax_triton.triton_lib as lib; "
        "from jax._src.interpreters import mlir; "
        "print(lib.triton_kernel_call_p in mlir._platform_specific_lowerings['cpu'])"
    )
    for value, first, expected in (
        ("0", "", "False"),
        ("1", "", "True"),
        ("1", "import triton; ", "True"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", first + code],
            env={**os.environ, "TRITON_XLA_COMPAT": value},
            capture_output=True,
            text=True,
        )
        assert done.stdout.strip() == expected, done.stderr


def unescaped(text):
    """The bytes of a string in MLIR's syntax."""
    names = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}
    return re.sub(
        rb"\\([0-9A-Fa-f]{2}|.)",
        lambda found: bytes([int(found[1], 16)]) if len(found[1]) == 2 else names[found[1]],
        text.encode("latin1"),
    )


def lowered(fn, *args):
    """The calls of the payloads in the graph for CUDA."""
    text = jax.jit(fn).trace(*args).lower(lowering_platforms=("cuda",)).as_text()
    target = "triton_kernel_call_ffi" if IS_NEW else "triton_kernel_call"
    assert f"@{target}(" in text
    key = "opaque" if IS_NEW else "backend_config"
    return [read(unescaped(found)) for found in re.findall(key + r' = "((?:[^"\\]|\\.)*)"', text)]


@pytest.fixture
def plugin():
    if getattr(jt.triton_lib, "triton_kernel_call_lib", None) is None:
        pytest.skip("jaxlib here has no CUDA plugin")


@pytest.mark.usefixtures("plugin")
def test_lowering_for_cuda():
    x = jnp.arange(100.0)
    (payload,) = lowered(
        lambda x: add(x, 3, BLOCK=32, num_warps=2, compute_capability=90, name="mine"), x
    )
    call, kernel = payload.call, payload.call.kernel
    assert payload.name == "mine"
    assert (kernel.name, kernel.num_warps, kernel.num_ctas, kernel.compute_capability) == (
        "scale",
        2,
        1,
        90,
    )
    assert call.grid == [4, 1, 1]
    scalars = [(each.value, each.type) for each in call.parameters if hasattr(each, "value")]
    assert scalars == [(2.0, "fp32" if IS_NEW else "fp64"), (3, "i32"), (False, "i1"), (100, "i32")]
    assert [each.divisibility for each in call.parameters if hasattr(each, "divisibility")] == [
        16,
        16,
    ]
    head = kernel.ptx.partition(".entry scale(")[2].partition(")")[0]
    assert head.count(".param") == len(call.parameters) + 2
    assert (
        re.search(r"\.target sm_90a?\n", kernel.ptx.replace("\r", ""))
        and "tt.func public @scale" in kernel.ttir
    )


@pytest.mark.usefixtures("plugin")
def test_shared_memory_and_candidates_of_a_matmul_for_cuda():
    a = jnp.zeros((128, 128), jnp.float16)
    configs = [
        triton.Config(dict(BM=size, BN=64, BK=32), num_warps=warps)
        for size, warps in ((64, 4), (128, 8))
    ]
    tuned = triton.autotune(configs, key=["M"])(kernels.matmul)

    def call(a, b):
        out = jax.ShapeDtypeStruct((128, 128), jnp.float32)
        kernel, sizes = (tuned, (128, 128, 128)) if IS_NEW else (_square, ())
        return jt.triton_call(
            a, b, kernel=kernel, grid=(2, 2), compute_capability=90,
            **(dict(zip("MNK", sizes, strict=True)) if IS_NEW else {}), **results(out),
        )  # fmt: skip

    (payload,) = lowered(call, a, a)
    warps = [each.kernel.num_warps for each, _ in payload.call.configs]
    assert warps == [4, 8]
    assert all(each.kernel.shared > 0 for each, _ in payload.call.configs)


@triton.autotune(
    [triton.Config(dict(BM=size), num_warps=warps) for size, warps in ((64, 4), (128, 8))], key=[]
)
@triton.jit
def _square(a_ptr, b_ptr, c_ptr, BM: triton.language.constexpr):
    kernels.matmul(a_ptr, b_ptr, c_ptr, 128, 128, 128, BM, 64, 32)


def fields_of(message):
    """(field, value) of a protocol buffer's message whose values are integers and messages."""
    position = 0

    def number():
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while position < len(message):
        field, kind = divmod(number(), 8)
        assert kind in (0, 2)
        value = number()
        if kind == 2:
            position, value = position + value, message[position : position + value]
        yield field, value


@triton.jit
def _copy_block(block_desc, out_ptr, M: triton.language.constexpr, N: triton.language.constexpr):
    at = triton.language.arange(0, M)[:, None] * N + triton.language.arange(0, N)[None, :]
    triton.language.store(out_ptr + at, block_desc.load([0, 0]))


# CUtensorMapDataType, the columns of a box (a panel of at most 128 bytes), and its swizzle (3: 128 bytes).
MAPS = {
    "float32": (7, 32, 3),
    "float16": (6, 64, 3),
    "bfloat16": (9, 64, 3),
    "float8_e5m2": (0, 64, 2),
    "int32": (3, 32, 3),
    "int8": (0, 64, 2),
    "uint16": (1, 64, 3),
}


@pytest.mark.usefixtures("plugin")
@pytest.mark.skipif(
    not hasattr(jt, "TensorDescriptor"), reason="this jax_triton has no descriptors"
)
@pytest.mark.parametrize("dtype", MAPS)
def test_descriptors_of_the_host(dtype):
    """jaxlib encodes a tensor map; the kernel's code and the payload must agree on its fields."""
    rows, columns = 16, 64
    element, box, swizzle = MAPS[dtype]

    def copy(x):
        block = jt.TensorDescriptor.from_array(x, block_shape=[rows, columns])
        return jt.triton_call(
            block, kernel=_copy_block, grid=1, M=rows, N=columns, compute_capability=90,
            **results(jax.typeof(x)),
        )  # fmt: skip

    x = jnp.zeros((rows, columns), dtype)
    text = jax.jit(copy).trace(x).lower(lowering_platforms=("cuda",)).as_text()
    (opaque,) = re.findall(r'opaque = "((?:[^"\\]|\\.)*)"', text)
    call = next(
        value for field, value in fields_of(zlib.decompress(unescaped(opaque))) if field == 1
    )
    kernel = dict(fields_of(next(value for field, value in fields_of(call) if field == 1)))
    parameters = [value for field, value in fields_of(call) if field == 5]
    (described,) = [value for field, value in fields_of(parameters[0]) if field == 9]
    map_fields = dict(fields_of(next(fields_of(described))[1]))
    assert (map_fields.get(1, 0), map_fields[2]) == (element, swizzle)
    extents, strides, boxes = (list(map_fields[field]) for field in (3, 4, 5))
    assert (extents, strides, boxes) == ([rows, columns], [columns, 1], [rows, box])
    # The tensor map, then the array's shape and strides, then the result.
    assert [dict(fields_of(value)) for value in parameters[1:5]] == [
        {3: rows},
        {3: columns},
        {5: columns},
        {5: 1},
    ]
    ptx = kernel[4].decode()
    assert ".param .align 64 .b8 _copy_block_param_0[128]" in ptx
    assert ptx.count("cp.async.bulk.tensor.2d") == columns // box


@pytest.mark.usefixtures("plugin")
@pytest.mark.skipif(
    not hasattr(jt, "TensorDescriptor"), reason="this jax_triton has no descriptors"
)
def test_a_descriptor_that_no_map_serves():
    def copy(x):
        block = jt.TensorDescriptor.from_array(x, block_shape=[16, 2])
        return jt.triton_call(
            block,
            kernel=_copy_block,
            grid=1,
            M=16,
            N=2,
            compute_capability=90,
            **results(jax.typeof(x)),
        )

    with pytest.raises(
        Exception,
        match="passes this descriptor as a tensor map, which cannot serve it: rows of 8 bytes",
    ):
        jax.jit(copy).trace(jnp.zeros((16, 2))).lower(lowering_platforms=("cuda",))


@pytest.mark.usefixtures("plugin")
def test_what_a_kernel_gets_wrong_is_told_with_its_line():
    @triton.jit
    def wrong(x_ptr, out_ptr):
        triton.language.store(out_ptr, triton.language.load(x_ptr).no_such_method())

    with pytest.raises(Exception, match="no_such_method"):
        lowered(
            lambda x: jt.triton_call(
                x,
                kernel=wrong,
                grid=1,
                compute_capability=90,
                **results(jax.ShapeDtypeStruct((), jnp.float32)),
            ),
            jnp.zeros(()),
        )
