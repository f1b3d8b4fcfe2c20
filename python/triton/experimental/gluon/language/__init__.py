"""`triton.experimental.gluon.language`: Gluon's own names, and those that it shares with Triton."""

# SPDX-License-Identifier: MIT
from typing import Any

from .... import language as _language
from ....language import core as _triton
from . import _core
from ._core import (
    distributed_type,
    shared_memory_descriptor,
    shared_memory_descriptor_type,
)
from ._layouts import (
    AutoLayout,
    BlockedLayout,
    CoalescedLayout,
    DistributedLayout,
    DistributedLinearLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
    NVMMASharedLayout,
    PaddedSharedLayout,
    SharedLayout,
    SharedLinearLayout,
    SliceLayout,
    SwizzledSharedLayout,
)

_OWN = [
    "AutoLayout",
    "BlockedLayout",
    "CoalescedLayout",
    "DistributedLayout",
    "DistributedLinearLayout",
    "DotOperandLayout",
    "NVMMADistributedLayout",
    "NVMMASharedLayout",
    "PaddedSharedLayout",
    "SharedLayout",
    "SharedLinearLayout",
    "SliceLayout",
    "SwizzledSharedLayout",
    "distributed_type",
    "shared_memory_descriptor",
    "shared_memory_descriptor_type",
]
# Names of Triton with the same meaning; where a tile is made, its layout is left open.
_SHARED = """
abs add aggregate_replace associative_scan assume atomic_add atomic_and atomic_cas atomic_max
atomic_min atomic_or atomic_poll atomic_xchg atomic_xor base_type base_value bfloat16 block_type
broadcast cast cdiv ceil clamp constexpr cos device_assert device_print div_rn dtype erf exp exp2
expand_dims fdiv float16 float32 float64 float8e4b15 float8e4b8 float8e4nv float8e5 float8e5b16
floor fma gather inline_asm_elementwise int1 int16 int32 int64 int8 join load log log2
map_elementwise max max_constancy max_contiguous maximum min minimum mul multiple_of num_programs
permute pointer_type program_id ravel reduce reduce_or reshape rsqrt sin split sqrt sqrt_rn
static_assert static_print static_range store sub sum tensor to_tensor tuple tuple_type uint16
uint32 uint64 uint8 umulhi void where xor_sum
""".split()
globals().update({name: getattr(_language, name) for name in _SHARED if hasattr(_language, name)})

__all__ = [*_OWN, *(name for name in _SHARED if name in globals())]
__all__ += _triton.bind_names(globals(), __name__)


def __getattr__(name: str) -> Any:
    """Other built-ins of Triton's language, by the same names."""
    if name in _language.__all__ or name.startswith("__"):
        return getattr(_language, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


from . import amd, extra, fpsan, nvidia  # noqa: E402  they look up names of this module

__all__ += ["amd", "extra", "fpsan", "nvidia"]
