"""gemlite: matmuls with weights of 1 to 8 bits and matrix-vector products."""
# SPDX-License-Identifier: MIT

import sys

import cases
import torch
from cases import bf16, case, close, f16, integers, normal, on_device
from gemlite import DType, GemLiteLinear


class OnCpu(list):
    """Tables by the number of a device: the CPU's number is None."""

    def __getitem__(self, index):
        return self[0] if index is None else super().__getitem__(index)


if cases.DEVICE == "cpu":
    for name, module in list(sys.modules.items()):
        if name.startswith("gemlite.") and isinstance(getattr(module, "fp4_mapping", None), list):
            module.fp4_mapping = OnCpu(module.fp4_mapping)


@case(
    kind=["GEMM", "GEMM_SPLITK", "GEMV", "GEMV_SPLITK", "GEMV_REVSPLITK"],
    bits=[8, 4, 2],
    group=[64, 128],
    dtype=[f16, bf16],
)
def weight_only(kind, bits, group, dtype):
    inputs, outputs = 1024, 128
    rows = 1 if "GEMV" in kind else 19
    quantised = integers(0, 2**bits, (outputs, inputs), torch.uint8)
    if kind == "GEMV_SPLITK":
        group = 128  # no smaller than the block of the library's only configuration
    groups = outputs * inputs // group
    scales = (torch.rand(groups, 1, device="cpu") * 0.01 + 0.002).to(dtype)
    zeros = torch.randint(0, 2**bits, (groups, 1), device="cpu").to(dtype)
    weight = (quantised.cpu().float().reshape(-1, group) - zeros.float()) * scales.float()
    x = normal(rows, inputs, dtype=dtype, grad=False)
    kind_of = {f16: DType.FP16, bf16: DType.BF16}[dtype]
    layer = GemLiteLinear(bits, group, inputs, outputs, input_dtype=kind_of, output_dtype=kind_of)
    layer.pack(quantised, on_device(scales), on_device(zeros), None)
    result = layer.forward_manual(x, matmul_type=kind)
    close(
        result, x.cpu().float() @ weight.reshape(outputs, inputs).T, 2e-2 if dtype == bf16 else 5e-3
    )


@case(kind=["A8W8_int8_dynamic", "A16W8_INT8"], rows=[1, 40])
def eight_bits(kind, rows):
    from gemlite import helper

    weight = normal(128, 1024, dtype=f16, scale=0.1, grad=False)
    layer = getattr(helper, kind)(device=weight.device, dtype=f16).from_weights(
        weight.clone(), None
    )
    x = normal(rows, 1024, dtype=f16, grad=False)
    close(layer(x), x.cpu().float() @ weight.cpu().float().T, 2e-2)
