"""Vector add as a node of PyTorch/XLA's graph, on the device that PJRT_DEVICE names (the CPU without it)."""
# SPDX-License-Identifier: MIT

import os

os.environ.setdefault("PJRT_DEVICE", "CPU")

import torch
import torch_xla
import torch_xla.experimental.triton as xla_triton
import triton  # noqa: I001
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + tl.load(y_ptr + offsets, mask=mask), mask=mask)


def add(x, y):
    payload = xla_triton.triton_call(
        x, y, torch.empty_like(x), x.numel(), kernel=add_kernel,
        grid=lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),), BLOCK_SIZE=256,
    )  # fmt: skip
    return torch_xla._XLAC._xla_gpu_custom_call([x, y], payload, [x.shape], [x.dtype])[0]


x = torch.arange(1000, dtype=torch.float32).to("xla")
result = add(x * 2, x) + 1
assert torch.equal(result.cpu(), 3 * torch.arange(1000, dtype=torch.float32) + 1)
print(f"PyTorch/XLA {torch_xla.__version__} added 1000 numbers on {torch_xla.runtime.device_type()}")
