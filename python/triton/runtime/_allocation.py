"""The allocators of scratch memory for kernels."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from .._C import libtriton
from .._lazy import lazy_names

Allocator = Callable[[int, int, "int | None"], Any]


class NullAllocator:
    """The default until `triton.set_allocator` is called."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Any:
        raise RuntimeError(
            "Kernel requires a runtime memory allocation, but no allocator was set. Use "
            "triton.set_allocator to specify an allocator."
        )


_NO_ALLOCATOR = NullAllocator()
_allocator: ContextVar[Allocator] = ContextVar("_allocator", default=_NO_ALLOCATOR)
_profile_allocator: ContextVar[Allocator | None] = ContextVar("_profile_allocator", default=None)


Scratch = tuple[int, int]  # bytes per CTA, alignment


def provide(scratch: Scratch, profile: Scratch, blocks: int, stream: Any) -> tuple[int, int, Any]:
    """Addresses of scratch memory for a launch, 0 where the native launcher allocates it on the
    stream, and the object that owns it.
    """
    buffers = [
        _allocate(allocator, size, align, blocks, stream)
        for allocator, (size, align) in (
            (get_allocator(), scratch),
            (get_profile_allocator(), profile),
        )
    ]
    return _address(buffers[0]), _address(buffers[1]), buffers


def _allocate(allocator: Allocator | None, size: int, align: int, blocks: int, stream: Any) -> Any:
    if not size or not blocks or allocator is None or isinstance(allocator, NullAllocator):
        return None
    return allocator(size * blocks, align, stream)


def _address(buffer: Any) -> int:
    if buffer is None:
        return 0
    if hasattr(buffer, "data_ptr"):
        return int(buffer.data_ptr())
    if hasattr(buffer, "__cuda_array_interface__"):
        return int(buffer.__cuda_array_interface__["data"][0])
    return int(buffer)


def _ask(allocator: Allocator | None) -> None:
    """Registers the provider with the native launcher, since some context may have an allocator."""
    if allocator is not None and not isinstance(allocator, NullAllocator):
        libtriton.set_scratch_provider(provide)


def set_allocator(allocator: Allocator) -> None:
    """`allocator(size, alignment, stream)` returns a buffer for kernels that need scratch memory.
    Without one it is allocated on the stream.
    """
    _ask(allocator)
    _allocator.set(allocator)


def get_allocator() -> Allocator:
    return _allocator.get()


def set_profile_allocator(allocator: Allocator | None) -> None:
    """As `set_allocator`, for the buffers of an in-kernel profiler."""
    _ask(allocator)
    _profile_allocator.set(allocator)


def get_profile_allocator() -> Allocator | None:
    return _profile_allocator.get()


def has_profile_allocator() -> bool:
    return _profile_allocator.get() is not None


__getattr__ = lazy_names(
    __name__,
    {
        "triton._hook_types": "Buffer",
    },
)
