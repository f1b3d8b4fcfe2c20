"""The typed handler of the CPU in jaxlib: payloads, buffers and targets that do not match are errors of the call."""
# SPDX-License-Identifier: MIT

import zlib

import _kernels as kernels
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from triton.backends.compiler import GPUTarget
from triton.xla import ArrayType, handlers, make_call, payload, read

pytestmark = pytest.mark.usefixtures("on_cpu")
X = jnp.arange(100, dtype=jnp.float32)
F32 = ArrayType("fp32", (100,))


@pytest.fixture(scope="module", autouse=True)
def target():
    jax.ffi.register_ffi_target("handler", handlers.capsule(handlers.CPU), platform="cpu")


def run(data, *operands, out=X, **attributes):
    shape = jax.ShapeDtypeStruct(out.shape, out.dtype)
    return jax.ffi.ffi_call("handler", shape)(
        *operands, **({"opaque": data} if data is not None else {}), **attributes
    )


def made(kernel=kernels.add, args=(F32, F32, F32, 100), **more):
    return make_call(kernel, list(args), (2,), "cpu", dict(BLOCK=64), **more).data


def changed(data, **fields):
    """The payload with other fields of its kernel, grid or parameters."""
    call = read(data).call
    for name in fields.keys() - {"grid", "parameters"}:
        kernel = call.kernel
        setattr(kernel, name, fields[name])
        call = payload.KernelCall(kernel, call.grid, call.parameters)
    grid, parameters = fields.get("grid", call.grid), fields.get("parameters", call.parameters)
    return payload.write(payload.KernelCall(call.kernel, grid, parameters))


def test_a_payload_runs():
    np.testing.assert_array_equal(run(made(), X, X), X + X)


def test_an_empty_grid_runs_nothing():
    out = run(
        changed(
            made(args=(F32, F32, ArrayType("fp32", (100,), bytes_to_zero=400), 100)), grid=[0, 1, 1]
        ),
        X,
        X,
    )
    np.testing.assert_array_equal(out, np.zeros(100))


def test_an_operand_that_is_written():
    args = (ArrayType("fp32", (100,)), 100)

    def alias(data):
        call = jax.ffi.ffi_call(
            "handler", jax.ShapeDtypeStruct(X.shape, X.dtype), input_output_aliases={0: 0}
        )
        return call(X, opaque=data)

    numbered = made(kernels.increment, (ArrayType("fp32", (100,), buffer=0), 100))
    np.testing.assert_array_equal(alias(numbered), X + 1)
    with pytest.raises(Exception, match=r"`x_ptr` .* is written by the kernel, .*declare an alias"):
        run(numbered, X + 0)
    allowed = made(kernels.increment, args, may_write_operands=True)
    with pytest.raises(Exception, match="takes 1 arrays; the call has 2"):
        run(allowed, X + 0)


OTHER = make_call(
    kernels.add, [F32, F32, F32, 100], (2,), GPUTarget("cuda", 90, 32), dict(BLOCK=64)
)
FOR_JAXLIB = make_call(
    kernels.add,
    [F32, F32, F32, 100],
    (2,),
    GPUTarget("cuda", 90, 32),
    dict(BLOCK=64),
    jaxlib="0.10.2",
)
WRONG = {
    "dtype": (
        lambda: run(made(), X, X.astype(jnp.int32)),
        "operand, number 1 .* type s32; the kernel was compiled for fp32",
    ),
    "result's dtype": (
        lambda: run(made(), X, X, out=X.astype(jnp.float16)),
        "result, number 2 .* type f16",
    ),
    "shape": (lambda: run(made(), X[:99], X), r"the shape \[99\]; the call was made for \[100\]"),
    "rank": (lambda: run(made(), X.reshape(10, 10), X), r"the shape \[10, 10\]; .* for \[100\]"),
    "too few": (lambda: run(made(), X), "takes 3 arrays; the call has 2 operands and results"),
    "too many": (lambda: run(made(), X, X, X), "takes 3 arrays; the call has 4"),
    "no payload": (lambda: run(None, X, X), "no attribute `opaque`"),
    "a number": (lambda: run(np.int64(3), X, X), "no attribute `opaque` of bytes"),
    "empty": (lambda: run(b"", X, X), "is cut short after 0 bytes"),
    "text": (lambda: run(b"hello", X, X), "no zlib stream"),
    "more": (lambda: run(made() + b"!", X, X), "1 bytes follow its end"),
    "message cut": (
        lambda: run(zlib.compress(zlib.decompress(made())[:-3]), X, X),
        "ends in the middle of a field",
    ),
    "nothing": (lambda: run(zlib.compress(b""), X, X), "holds no kernel call"),
    "target": (lambda: run(OTHER.data, X, X), "was compiled for `cuda`; this device is `cpu`"),
    "jaxlib's": (
        lambda: run(FOR_JAXLIB.data, X, X),
        "was compiled for `cuda`; this device is `cpu`",
    ),
    "no code": (lambda: run(changed(made(), artifact=b""), X, X), "neither PTX nor an artifact"),
    "bad code": (
        lambda: run(changed(made(), artifact=_with_other_end(read(made()).call.kernel.artifact)), X, X),
        "artifact-checksum",
    ),
    "other version": (
        lambda: run(
            changed(made(), artifact=_other_version(read(made()).call.kernel.artifact)), X, X
        ),
        "artifact-version",
    ),
    "name": (
        lambda: run(changed(made(), name="sub"), X, X),
        "its artifact is that of kernel `add`",
    ),
    "argument count": (
        lambda: run(changed(made(), parameters=read(made()).call.parameters[:3]), X, X),
        "takes 4 arguments; the payload has 3",
    ),
    "argument kind": (
        lambda: run(changed(made(), parameters=[payload.Scalar(1, "i64")] * 4), X, X),
        "`x_ptr` of kernel `add`: the payload gives a scalar of 8 bytes; the kernel takes",
    ),
    "number as an array": (
        lambda: run(changed(made(), parameters=[payload.Array()] * 4), X, X, X),
        "`n` of kernel `add`: the payload gives an array; the kernel takes i32",
    ),
    "specialised number": (
        lambda: run(
            changed(
                made(args=(F32, F32, F32, 96)),
                parameters=[*read(made()).call.parameters[:3], payload.Scalar(97, "i32")],
            ),
            X,
            X,
        ),
        r"the value 97 is not what the code was compiled for \(16\)",
    ),
    "zeroing too much": (
        lambda: run(made(args=(F32, F32, ArrayType("fp32", (100,), bytes_to_zero=401), 100)), X, X),
        "has 400 bytes; 401 are to be set to zero",
    ),
    "alignment": (
        lambda: run(
            changed(
                made(), parameters=[payload.Array(0, 2**40)] * 3 + read(made()).call.parameters[3:]
            ),
            X,
            X,
        ),
        "at an address that is no multiple of 1099511627776",
    ),
}


def _with_other_end(artifact):
    return artifact[:-1] + bytes([artifact[-1] ^ 1])


def _other_version(artifact):
    return artifact[:8] + b"\xff" + artifact[9:]


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_an_error(name):
    call, text = WRONG[name]
    with pytest.raises(Exception, match=text) as raised:
        call()
    assert type(raised.value).__name__ in ("JaxRuntimeError", "XlaRuntimeError")


def test_reading_in_python_refuses_the_same():
    data = made()
    with pytest.raises(ValueError, match="payload-compression"):
        read(data[: len(data) // 2])
    with pytest.raises(ValueError, match="payload-truncated"):
        payload.read(zlib.decompress(data)[:-1], compressed=False)
    with pytest.raises(OverflowError, match="2147483648, which is no value of type i32"):
        payload.Scalar(2**31, "i32")
    with pytest.raises(ValueError, match="has the type i8"):
        payload.Scalar(1, "i8")


def test_arguments_that_no_graph_can_pass():
    with pytest.raises(TypeError, match="failed to specialize argument of type: object"):
        made(args=(F32, F32, F32, object()))
    with pytest.raises(TypeError, match='target must be "cpu" or a GPUTarget'):
        make_call(kernels.add, [F32, F32, F32, 1], 1, "cuda", dict(BLOCK=8))
    with pytest.raises(TypeError, match="no elements of type complex64"):
        ArrayType.of(np.zeros(3, np.complex64))
    with pytest.raises(
        ValueError, match="jaxlib's handlers run kernels for CUDA; this call is for cpu"
    ):
        made(jaxlib="0.11.2")
