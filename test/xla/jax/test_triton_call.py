"""triton.jax.triton_call: results under jit and eagerly, and errors."""
# SPDX-License-Identifier: MIT

import _kernels as kernels
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import triton
from triton.jax import primitive, triton_call
from triton.jax.lowering import lower


def floats(*shape, seed=0, dtype=np.float32):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def both(fn, *args):
    """The result of an eager call, which a jitted call inside of other operations must reproduce."""
    eager = fn(*args)
    jitted = jax.jit(lambda *a: jax.tree.map(lambda leaf: leaf[...], fn(*a)))(*args)
    for a, b in zip(jax.tree.leaves(eager), jax.tree.leaves(jitted), strict=True):
        np.testing.assert_array_equal(a, b)
    return eager


def add(x, y, kernel=kernels.add, **more):
    more.setdefault("BLOCK", 64)
    return triton_call(
        x,
        y,
        n=x.size,
        kernel=kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=lambda meta: triton.cdiv(meta["n"], meta["BLOCK"]),
        **more,
    )


@pytest.mark.parametrize("n", [1, 63, 64, 1000])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "int8", "uint16"])
def test_add(n, dtype):
    x = jnp.arange(n).astype(dtype)
    np.testing.assert_array_equal(both(add, x, x), x + x)


def test_scalars_keep_their_types():
    x = floats(50)

    def call(factor, shift, negate):
        return triton_call(
            x,
            factor,
            shift,
            negate,
            x.size,
            kernel=kernels.scale,
            out_type=jax.typeof(x),
            grid=1,
            BLOCK=64,
        )

    np.testing.assert_allclose(call(0.5, 3, False), x * 0.5 + 3, rtol=1e-6)
    np.testing.assert_allclose(call(0.5, 1, True), -(x * 0.5 + 1), rtol=1e-6)
    np.testing.assert_allclose(call(np.float32(2.0), -(2**20), False), x * 2 - 2**20, rtol=1e-6)
    # Equal in Python, different for a kernel.
    np.testing.assert_allclose(call(1.0, 1.0, True), -(x + 1), rtol=1e-6)
    np.testing.assert_allclose(call(1, True, 1), -(x + 1), rtol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (5, 33), (8, 128)])
def test_softmax(shape):
    x = floats(*shape)

    def call(x):
        return triton_call(
            x,
            columns=shape[1],
            kernel=kernels.softmax,
            out_type=jax.typeof(x),
            grid=(shape[0],),
            BLOCK=128,
        )

    np.testing.assert_allclose(both(call, x), jax.nn.softmax(x, -1), rtol=1e-5, atol=1e-7)


def test_matmul():
    a, b = floats(50, 40), floats(40, 35, seed=1)

    def call(a, b):
        out = jax.ShapeDtypeStruct((50, 35), jnp.float32)
        blocks = dict(BM=32, BN=32, BK=16)
        return triton_call(
            a, b, M=50, N=35, K=40, kernel=kernels.matmul, out_type=out, grid=(2, 2), **blocks
        )

    exact = np.asarray(a, np.float64) @ np.asarray(b, np.float64)
    np.testing.assert_allclose(both(call, a, b), exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("length", [64, 50])
def test_attention(length):
    q, k, v = (floats(3, length, 32, seed=seed) for seed in range(3))

    def call(q, k, v):
        grid = (triton.cdiv(length, 32), 3)
        meta = dict(length=length, sm_scale=0.2, D=32, BM=32, BN=32)
        return triton_call(
            q, k, v, kernel=kernels.attention, out_type=jax.typeof(q), grid=grid, **meta
        )

    scores = jax.nn.softmax(0.2 * jnp.einsum("hqd,hkd->hqk", q, k, precision="highest"), -1)
    expected = jnp.einsum("hqk,hkd->hqd", scores, v, precision="highest")
    np.testing.assert_allclose(both(call, q, k, v), expected, rtol=2e-4, atol=2e-5)


@triton.jit
def _weighted(pairs, out_ptr, n, BLOCK: triton.language.constexpr):
    at = triton.language.arange(0, BLOCK)
    (x_ptr, weight), y_ptr = pairs
    x = triton.language.load(x_ptr + at, mask=at < n)
    y = triton.language.load(y_ptr + at, mask=at < n)
    triton.language.store(out_ptr + at, weight * x + y, mask=at < n)


def test_tuples_of_arrays_and_numbers():
    x, y = floats(30), floats(30, seed=1)

    def call(x, y):
        return triton_call(
            ((x, 2.5), y), n=30, kernel=_weighted, out_type=jax.typeof(x), grid=1, BLOCK=32
        )

    np.testing.assert_allclose(both(call, x, y), 2.5 * x + y, rtol=1e-6)


def test_results_of_several_types():
    x = jnp.arange(100, dtype=jnp.int32)
    out = (
        jax.ShapeDtypeStruct((100,), jnp.int8),
        {"high": jax.ShapeDtypeStruct((10, 10), jnp.int32)},
    )
    low, rest = both(
        lambda x: triton_call(x, n=100, kernel=kernels.split, out_type=out, grid=(4,), BLOCK=32), x
    )
    np.testing.assert_array_equal(low, np.arange(100) & 15)
    np.testing.assert_array_equal(rest["high"], (np.arange(100) >> 4).reshape(10, 10))


def test_an_alias_gives_an_operands_memory_to_a_result():
    x = jnp.arange(100.0)

    def call(x, kernel=kernels.increment):
        return triton_call(
            x,
            100,
            kernel=kernel,
            out_type=jax.typeof(x),
            grid=(4,),
            BLOCK=32,
            input_output_aliases={0: 0},
        )

    np.testing.assert_array_equal(both(call, x), np.arange(100) + 1)
    np.testing.assert_array_equal(
        both(lambda x: call(x, kernels.increment_into), x), np.arange(100) + 1
    )
    np.testing.assert_array_equal(x, np.arange(100))  # JAX copies if the operand is still used


def test_zeroed_outputs():
    x = jnp.asarray(np.random.default_rng(0).integers(0, 7, 500), jnp.int32)
    out = jax.ShapeDtypeStruct((7,), jnp.int32)

    def call(x, zeroed):
        return triton_call(
            x,
            n=500,
            kernel=kernels.histogram,
            out_type=out,
            grid=(8,),
            BLOCK=64,
            zeroed_outputs=zeroed,
        )

    for zeroed in ((0,), lambda meta: [0]):
        np.testing.assert_array_equal(call(x, zeroed), np.bincount(x, minlength=7))


def test_two_calls_of_the_same_shapes_run_their_own_kernels():
    x = jnp.arange(100.0)

    def twice(x):
        a = triton_call(
            x, 100, kernel=kernels.increment_into, out_type=jax.typeof(x), grid=(4,), BLOCK=32
        )
        b = triton_call(
            x,
            3.0,
            0.0,
            False,
            100,
            kernel=kernels.scale,
            out_type=jax.typeof(x),
            grid=(4,),
            BLOCK=32,
        )
        return a, b

    a, b = jax.jit(twice)(x)
    np.testing.assert_array_equal(a, x + 1)
    np.testing.assert_array_equal(b, x * 3)


def test_autotuned_and_heuristics():
    x = floats(1000)
    call = lambda x, kernel: triton_call(  # noqa: E731
        x,
        x,
        n=1000,
        kernel=kernel,
        out_type=jax.typeof(x),
        grid=lambda m: (triton.cdiv(1000, m["BLOCK"]),),
    )
    for kernel in (kernels.tuned_add, kernels.sized_add):
        np.testing.assert_array_equal(jax.jit(lambda x, k=kernel: call(x, k))(x), x + x)


def test_tuning_restores_what_it_overwrites():
    x = jnp.arange(100.0)
    out = triton_call(
        x,
        100,
        kernel=kernels.tuned_increment,
        out_type=jax.typeof(x),
        grid=lambda meta: (triton.cdiv(100, meta["BLOCK"]),),
        input_output_aliases={0: 0},
    )
    np.testing.assert_array_equal(out, np.arange(100) + 1)


def test_gradients_by_custom_vjp():
    @jax.custom_vjp
    def double(x):
        return add(x, x)

    double.defvjp(lambda x: (double(x), None), lambda _, g: (add(g, g),))
    x = floats(30)
    np.testing.assert_array_equal(jax.grad(lambda x: (double(x) * x).sum())(x), 4 * x)


def test_shard_map_runs_the_kernel_on_each_device():
    if len(jax.devices()) < 2:
        pytest.skip("one device")
    devices = np.array(jax.devices()[:2])
    mesh, spec = jax.sharding.Mesh(devices, ("i",)), jax.sharding.PartitionSpec("i")
    x = np.arange(200, dtype=np.float32)
    out = jax.jit(jax.shard_map(add, mesh=mesh, in_specs=(spec, spec), out_specs=spec))(x, x)
    np.testing.assert_array_equal(out, x + x)
    assert {shard.device for shard in out.addressable_shards} == set(devices)


def test_cost_estimate_and_metadata_reach_the_graph():
    x = floats(10)
    more = dict(
        cost_estimate={"flops": 10, "bytes_accessed": 120},
        serialized_metadata=b"\0meta",
        name="mine",
    )
    text = jax.jit(lambda x: add(x, x, **more)).lower(x).as_text()
    assert "bytes_accessed" in text and "flops" in text


def test_an_eager_call_is_compiled_once(monkeypatch):
    lowered = []
    monkeypatch.setattr(primitive, "lower", lambda *args: lowered.append(args) or lower(*args))
    x = floats(123)
    for _ in range(3):
        np.testing.assert_array_equal(add(x, x), x + x)
    assert len(lowered) == 1


def test_options_reach_the_compiler():
    x = floats(10)
    np.testing.assert_array_equal(
        add(x, x, num_warps=2, num_stages=1, backend_options={"enable_fp_fusion": False}), x + x
    )
    with pytest.raises(ValueError, match="num_warps is given twice"):
        add(x, x, num_warps=2, backend_options={"num_warps": 4})
    with pytest.raises(AssertionError, match="num_warps must be a power of 2"):
        add(x, x, num_warps=3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: jax.vmap(add)(x[None], x[None]), NotImplementedError, "mapped by jax.vmap"),
        (
            lambda x: jax.grad(lambda x: add(x, x).sum())(x),
            NotImplementedError,
            "use jax.custom_vjp",
        ),
        (
            lambda x: triton_call(x, 1, kernel=kernels.increment, out_type=[], grid=1, BLOCK=8),
            ValueError,
            "out_type has no results",
        ),
        (
            lambda x: triton_call(x, kernel=kernels.add, out_type=x, grid=1, BLOCK=8),
            ValueError,
            r"3 parameters without an argument \(y_ptr, out_ptr, n\); out_type has 1 results",
        ),
        (
            lambda x: triton_call(x, x, x, x.size, kernel=kernels.add, out_type=x, grid=1, BLOCK=8),
            ValueError,
            "0 parameters without an argument",
        ),
        (
            lambda x: triton_call(x, kernel=print, out_type=x, grid=1),
            TypeError,
            "decorated with triton.jit",
        ),
        (lambda x: triton_call(x, kernel=kernels.add, grid=1), TypeError, "needs `out_type`"),
        (lambda x: add(x, x, zeroed_outputs=(1,)), ValueError, "zeroed_outputs names result 1"),
        (lambda x: add(x, x, input_output_aliases={0: 3}), ValueError, "names result 3"),
        (
            lambda x: add(x, x, input_output_aliases={2: 0}),
            ValueError,
            "names argument 2, which is no array",
        ),
        (lambda x: add(x, "y"), TypeError, "argument `y_ptr` of add is a str"),
        (lambda x: add(x, x, BLOCKS=3), KeyError, "BLOCKS was specified but unrecognised"),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(floats(8))


def test_a_written_operand_needs_an_alias():
    def call(x, y):
        return triton_call(
            x, y, n=8, kernel=_writes_operand, out_type=jax.typeof(x), grid=1, BLOCK=8
        )

    with pytest.raises(ValueError, match=r"writes its operand `y_ptr`.*input_output_aliases=\{1: "):
        call(floats(8), floats(8))


@triton.jit
def _writes_operand(x_ptr, y_ptr, out_ptr, n, BLOCK: triton.language.constexpr):
    at = triton.language.arange(0, BLOCK)
    x = triton.language.load(x_ptr + at)
    triton.language.store(y_ptr + at, x)
    triton.language.store(out_ptr + at, x)


def test_an_unknown_jaxlib_is_refused(monkeypatch):
    from triton.jax import versions

    versions.check_jaxlib.cache_clear()
    monkeypatch.setattr(versions.jaxlib.version, "__version__", "0.99.1")
    with pytest.raises(
        RuntimeError, match="jaxlib 0.99.1 is installed; triton.jax supports versions 0.10 to 0.12"
    ):
        add(floats(8), floats(8))
    versions.check_jaxlib.cache_clear()
