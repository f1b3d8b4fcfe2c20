"""The content of a payload from `triton_call`."""
# SPDX-License-Identifier: MIT

import torch
import torch_xla.experimental.triton as xla_triton
import triton
import triton.language as tl
from _add import add_kernel
from triton._C.libtriton import load_artifact
from triton.backends.compiler import GPUTarget
from triton.xla.contract import Contract


@triton.jit
def scalars_kernel(output_ptr, factor, flag, large, small):
    value = tl.where(flag, factor, 0.0) + large + small
    tl.store(output_ptr + tl.arange(0, 16), tl.zeros([16], tl.float32) + value)


def test_the_same_call_gives_the_same_bytes():
    x = torch.arange(16).to("xla")
    arguments = dict(kernel=add_kernel, grid=(2,), BLOCK_SIZE=8)
    first = xla_triton.triton_call(x, x, x, 16, **arguments)
    assert first == xla_triton.triton_call(x, x, x, 16, **arguments)
    assert first != xla_triton.triton_call(x, x, x, 16, **{**arguments, "grid": 2, "BLOCK_SIZE": 16})


def test_a_payload_for_a_gpu_needs_none():
    x = torch.empty(16, dtype=torch.int64, device="xla")
    payload = xla_triton.triton_call(
        x, x, x, 16, kernel=add_kernel, grid=(2,), BLOCK_SIZE=8, num_warps=8, target=GPUTarget("cuda", 90, 32)
    )
    contract = Contract.of(payload)
    assert (contract.kernel, contract.backend, contract.arch) == ("add_kernel", "cuda", "90")
    assert [array.name for array in contract.arrays] == ["x_ptr", "y_ptr", "output_ptr"]
    code = load_artifact(triton.xla.read(payload).call.kernel.artifact)
    assert code.metadata["num_warps"] == 8


def test_scalars_have_the_types_of_the_kernel():
    x = torch.empty(16, dtype=torch.float32, device="xla")
    payload = xla_triton.triton_call(x, 0.5, True, 2**40, 3, kernel=scalars_kernel, grid=(1,))
    _, *scalars = triton.xla.read(payload).call.parameters
    assert [(scalar.type, scalar.value) for scalar in scalars] == [
        ("fp32", 0.5), ("i1", True), ("i64", 2**40), ("i32", 3)
    ]  # fmt: skip
