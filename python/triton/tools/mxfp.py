"""Tensors of torch in the microscaling formats (OCP MX): 4-bit elements e2m1 and 8-bit scales e8m0."""

# SPDX-License-Identifier: MIT
#
# Reference: OCP Microscaling Formats (MX) Specification 1.0. An element is one uint8 per value until it
# is packed.
from __future__ import annotations

from typing import Any

import torch

__all__ = ["MXFP4Tensor", "MXScaleTensor", "fp8e8m0_to_float32"]

# Magnitudes of the codes 0 to 7, and the midpoints between them.
_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_MIDPOINTS = (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)
_BIAS = 127  # of e8m0
_NAN = 255  # in e8m0


class _Tensor:
    """From a float32 tensor, or from a size: `random` fills it."""

    data: torch.Tensor

    def __init__(self, data: torch.Tensor | None = None, size: Any = None, device: Any = None):
        self.device = device
        if data is not None:
            assert isinstance(data, torch.Tensor), "Parameter data must be a torch tensor"
            self.device = data.device
            self.data = self._from_float(data)
        elif size is not None:
            self.size = size if isinstance(size, tuple) else (size,)
        else:
            raise ValueError("Either parameter data or size must be provided")

    def _from_float(self, values: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def _random(self, low: int, high: int) -> torch.Tensor:
        return torch.randint(low, high, size=self.size, dtype=torch.uint8, device=self.device)


class MXFP4Tensor(_Tensor):
    """e2m1: a sign, two bits of exponent, one of mantissa; no infinity and no NaN."""

    def random(self) -> MXFP4Tensor:
        self.data = self._random(0, 16)
        return self

    def _from_float(self, values: torch.Tensor) -> torch.Tensor:
        """The nearest code, ties to even; infinite, NaN and larger values become 6."""
        magnitude = values.abs()
        code = torch.zeros_like(values, dtype=torch.uint8)
        for lower, middle in enumerate(_MIDPOINTS):
            rounds_up = magnitude >= middle if lower % 2 else magnitude > middle
            code += rounds_up.to(torch.uint8)
        code[torch.isnan(values)] = len(_MAGNITUDES) - 1
        return torch.signbit(values).to(torch.uint8) << 3 | code

    def to(self, dtype: torch.dtype) -> torch.Tensor:
        assert dtype == torch.float32, "fp4e2m1 is converted to float32 only"
        table = torch.tensor(_MAGNITUDES, dtype=dtype, device=self.data.device)
        magnitude = table[(self.data & 7).long()]
        return torch.where(self.data & 8 != 0, -magnitude, magnitude)

    def to_packed_tensor(self, dim: int) -> torch.Tensor:
        """Two elements adjacent along `dim` per byte, the first in the low half; an odd count is
        padded with zero.
        """
        data = self.data
        assert 0 <= dim < data.ndim, (
            "The dimension to pack along is not within the range of tensor dimensions"
        )
        low = data.index_select(dim, self._every_other(data, dim, 0))
        high = data.index_select(dim, self._every_other(data, dim, 1))
        if high.size(dim) < low.size(dim):
            shape = [*data.shape]
            shape[dim] = 1
            high = torch.cat([high, data.new_zeros(shape)], dim)
        return high << 4 | low

    @staticmethod
    def _every_other(data: torch.Tensor, dim: int, first: int) -> torch.Tensor:
        return torch.arange(first, data.size(dim), 2, device=data.device)

    def unpack_packed_tensor(
        self, packed_tensor: torch.Tensor, dim: int, original_shape: Any
    ) -> torch.Tensor:
        """Inverse of `to_packed_tensor`."""
        halves = torch.stack((packed_tensor & 15, packed_tensor >> 4 & 15), dim=dim + 1)
        data = halves.flatten(dim, dim + 1)
        return data.narrow(dim, 0, original_shape[dim]).to(torch.uint8)


def fp8e8m0_to_float32(scale: torch.Tensor) -> torch.Tensor:
    """The powers of two that the e8m0 bytes encode."""
    scale = scale.view(torch.uint8)
    # The smallest of them, 2**-127, is a denormal float32.
    bits = (scale.to(torch.int32) << 23).clamp_min(1 << 22)
    return bits.masked_fill(scale == _NAN, 0x7FC00000).view(torch.float32)


class MXScaleTensor(_Tensor):
    """e8m0: only an exponent."""

    def random(self, low: float | None = None, high: float | None = None) -> MXScaleTensor:
        """Scales between `low` and `high`; never NaN."""
        least = 0 if low is None else max(0, self._exponent(low))
        most = _NAN - 1 if high is None else min(_NAN - 1, max(0, self._exponent(high)))
        assert least <= most, "Low must be less than or equal to high"
        self.data = self._random(least, most + 1)
        return self

    @staticmethod
    def _exponent(value: float) -> int:
        return int(torch.log2(torch.tensor(value))) + _BIAS

    def to(self, dtype: torch.dtype) -> torch.Tensor:
        assert dtype == torch.float32, "f8e8m0 is converted to float32 only"
        return fp8e8m0_to_float32(self.data)

    def _from_float(self, values: torch.Tensor) -> torch.Tensor:
        """The next lower or equal power of two; NaN for values that have none."""
        has_none = torch.isnan(values) | torch.isinf(values) | (values <= 0)
        exponent = torch.floor(torch.log2(torch.where(has_none, 1.0, values))) + _BIAS
        return torch.where(has_none, _NAN, exponent.clamp(0, _NAN - 1)).to(torch.uint8)
