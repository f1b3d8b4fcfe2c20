"""`triton._C.libtriton.nvidia.cublas`: the cuBLAS interface that benchmarks of kernels use,
implemented through PyTorch.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any


class CublasLt:
    """Matmuls by cuBLAS.

    `workspace` is a tensor on the GPU that the library may use; PyTorch allocates its own, so it is
    only kept. Every method returns None and writes its last tensor; a shape or dtype that does not
    fit raises PyTorch's RuntimeError.
    """

    def __init__(self, workspace: Any) -> None:
        self.workspace = workspace
        self._one: Any = None

    def matmul(self, a: Any, b: Any, c: Any) -> None:
        """`c = a @ b.T`: a [M, K], b [N, K], c [M, N]; float16, bfloat16, float32 or float8_e4m3fn,
        the same for all three.
        """
        import torch

        _check(a, b, c)
        if a.dtype.itemsize == 1:
            c.copy_(self._scaled(a, b, self._unit(a), self._unit(a), c.dtype))
        else:
            torch.mm(a, b.t(), out=c)

    def gemm(self, a: Any, b: Any, c: Any, d: Any, alpha: float, beta: float) -> None:
        """`d = alpha * (a @ b.T) + beta * c`: shapes as in `matmul`, c and d [M, N], c float16 where a is float8_e4m3fn."""
        import torch

        _check(a, b, d)
        _check(a, b, c, same_dtype=False)
        if a.dtype.itemsize == 1:
            product = self._scaled(a, b, self._unit(a), self._unit(a), torch.float32)
            d.copy_(product * alpha + c.float() * beta)
        else:
            torch.addmm(c.to(d.dtype), a, b.t(), beta=beta, alpha=alpha, out=d)

    def block_scaled_matmul_mxfp8(self, a: Any, b: Any, out: Any, scale_a: Any, scale_b: Any) -> None:
        """`out = (a * scales) @ (b * scales).T`: float8_e4m3fn with one e8m0 scale for 32 elements; out [M, N] float16."""
        out.copy_(self._scaled(a, b, scale_a, scale_b, out.dtype))

    def block_scaled_matmul_nvfp4(self, a: Any, b: Any, out: Any, scale_a: Any, scale_b: Any) -> None:
        """The same for packed float4_e2m1fn_x2 with one float8_e4m3fn scale for 16 elements."""
        out.copy_(self._scaled(a, b, scale_a, scale_b, out.dtype))

    def _unit(self, like: Any) -> Any:
        import torch

        if self._one is None or self._one.device != like.device:
            self._one = torch.ones((), device=like.device)
        return self._one

    def _scaled(self, a: Any, b: Any, scale_a: Any, scale_b: Any, dtype: Any) -> Any:
        import torch

        return torch._scaled_mm(a, b.t(), scale_a=scale_a, scale_b=scale_b, out_dtype=dtype, use_fast_accum=True)


def _check(a: Any, b: Any, out: Any, same_dtype: bool = True) -> None:
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[1]:
        raise RuntimeError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}; they must be [M, K] and [N, K], b transposed by the caller")
    if tuple(out.shape) != (a.shape[0], b.shape[0]):
        raise RuntimeError(f"the result is {tuple(out.shape)}; of these operands it is {(a.shape[0], b.shape[0])}")
    if a.dtype != b.dtype or (same_dtype and out.dtype != a.dtype):
        raise RuntimeError(f"a is {a.dtype}, b is {b.dtype}, the result {out.dtype}; they must be one dtype")
