"""Descriptors of tensors for Blackwell's copies."""
# SPDX-License-Identifier: MIT

from .hopper import TensorDescriptor

__all__ = ["TensorDescriptor"]
