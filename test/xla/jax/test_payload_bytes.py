"""Payloads for jaxlib's handlers: the same bytes as from jaxlib's own library, for ten kernels."""
# SPDX-License-Identifier: MIT

import zlib

import _kernels as kernels
import jaxlib.version
import pytest
from triton.backends.compiler import GPUTarget
from triton.xla import ArrayType, make_call, read, write

try:
    from jax._src.lib import gpu_triton
except ImportError:
    gpu_triton = None
if not hasattr(gpu_triton, "TritonKernel"):
    pytest.skip("jaxlib here has no CUDA plugin", allow_module_level=True)

TARGET = GPUTarget("cuda", 90, 32)
JAXLIB = jaxlib.version.__version__


def array(dtype, *shape, **properties):
    return ArrayType(dtype, shape, **properties)


F32 = array("fp32", 1000)
HEAD = array("fp16", 2, 128, 64)
CASES = {
    "add": (kernels.add, [F32, F32, F32, 1000], (8,), dict(BLOCK=128)),
    "add_i64": (kernels.add, [array("i64", 16)] * 3 + [16], (2, 3, 4), dict(BLOCK=8, num_warps=1)),
    "scale": (kernels.scale, [F32, -0.5, 2**40, True, 2**31, F32], (8,), dict(BLOCK=128)),
    "scale_narrow": (
        kernels.scale,
        [F32, 0.0, -3, False, 0, F32],
        (1,),
        dict(BLOCK=64, num_warps=8),
    ),
    "softmax": (
        kernels.softmax,
        [array("fp32", 8, 781), array("fp32", 8, 781), 781],
        (8,),
        dict(BLOCK=1024),
    ),
    "matmul": (
        kernels.matmul,
        [array("bf16", 256, 256)] * 2 + [array("fp32", 256, 256), 256, 256, 256],
        (4, 4),
        dict(BM=64, BN=64, BK=32, num_stages=2),
    ),
    "attention": (kernels.attention, [HEAD] * 4 + [128, 0.125], (2, 2), dict(D=64, BM=64, BN=64)),
    "increment": (kernels.increment, [array("fp16", 9, divisibility=2), 9], (1,), dict(BLOCK=16)),
    "histogram": (
        kernels.histogram,
        [array("i32", 99), array("i32", 7, bytes_to_zero=28), 99],
        (2,),
        dict(BLOCK=64),
    ),
    "split": (
        kernels.split,
        [array("i32", 50), array("i8", 50), array("i32", 50), 50],
        (1,),
        dict(BLOCK=64),
    ),
}


def theirs(call, made):
    """The call built by jaxlib's own classes."""
    code = call.kernel
    kernel = gpu_triton.TritonKernel(
        code.name,
        code.num_warps,
        code.num_ctas,
        code.shared,
        code.ptx,
        code.ttir,
        code.compute_capability,
    )
    metadata = made.metadata
    assert (code.name, code.num_warps, code.shared) == (
        metadata.name,
        metadata.num_warps,
        metadata.shared,
    )
    parameters = [
        gpu_triton.create_scalar_parameter(parameter.value, parameter.type)
        if hasattr(parameter, "value")
        else gpu_triton.create_array_parameter(parameter.bytes_to_zero, parameter.divisibility)
        for parameter in call.parameters
    ]
    return gpu_triton.TritonKernelCall(kernel, *call.grid, parameters)


@pytest.mark.parametrize("name", CASES)
def test_bytes_are_jaxlibs(name):
    kernel, args, grid, meta = CASES[name]
    made = make_call(kernel, args, grid, TARGET, meta, jaxlib=JAXLIB, name="call", metadata=b"\0m")
    expected = theirs(read(made.data).call, made.kernel).to_proto("call", b"\0m")
    assert zlib.decompress(made.data) == expected
    assert made.data == zlib.compress(expected)


def test_bytes_of_an_autotuned_call_are_jaxlibs():
    made = make_call(
        kernels.tuned_add,
        [F32, F32, F32, 1000],
        (8,),
        TARGET,
        jaxlib=JAXLIB,
        name="t",
        aliases=[(0, 2, 4000)],
    )
    call = read(made.data).call
    configs = [
        (theirs(each, kernel), text)
        for (each, text), kernel in zip(call.configs, made.kernels, strict=True)
    ]
    expected = gpu_triton.TritonAutotunedKernelCall("t", configs, [(0, 2, 4000)]).to_proto("t", b"")
    assert made.is_autotuned
    assert zlib.decompress(made.data) == expected


def test_the_ptx_takes_what_jaxlib_passes():
    """The parameters of the payload, then two pointers to scratch memory."""
    made = make_call(
        kernels.add, [F32, F32, F32, 1001], (8,), TARGET, dict(BLOCK=128), jaxlib=JAXLIB
    )
    call = read(made.data).call
    head = call.kernel.ptx.partition(".entry add(")[2].partition(")")[0]
    assert head.count(".param") == len(call.parameters) + 2


def test_what_was_read_is_written_again():
    for kernel, args, grid, meta in CASES.values():
        for version in (JAXLIB, None):
            data = make_call(kernel, args, grid, TARGET, meta, jaxlib=version).data
            payload = read(data)
            assert write(payload.call, payload.name, payload.metadata) == data


@pytest.mark.parametrize(
    ("version", "text"),
    [("0.7.2", "0.8.0 is the first that passes them"), ("new", "'new' is no version of jaxlib")],
)
def test_a_jaxlib_that_cannot_launch_the_code_is_refused(version, text):
    with pytest.raises(ValueError, match=text):
        make_call(kernels.add, [F32, F32, F32, 1000], (8,), TARGET, dict(BLOCK=128), jaxlib=version)


def test_clusters_are_told_as_the_version_wants_them():
    def code(version):
        call = make_call(
            kernels.add, [F32] * 3 + [1000], 8, TARGET, dict(BLOCK=128), jaxlib=version
        )
        return read(call.data).call.kernel

    assert (code("0.8.1").cluster_dims, code("0.8.1").num_ctas) == ([1, 1, 1], None)
    assert (code("0.8.2").cluster_dims, code("0.8.2").num_ctas) == (None, 1)
