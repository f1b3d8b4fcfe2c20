# Waits for values that other programs write: atomic_poll.
# SPDX-License-Identifier: MIT
# module: triton.language


@jit
def _any_left(found):
    """Whether a lane has not found its value yet."""
    return max(cast(~found, int32), axis=None) != 0 if found.type.is_block() else ~found


@jit
@member
def atomic_poll(pointer, expected_value, sem: constexpr = None, scope: constexpr = None, timeout_ns=None):
    """Polls memory, lane by lane, until it holds a value or a number of nanoseconds has passed; gives where it did.
    Elements are integers of 16 to 64 bits. Without a GPU's clock an iteration of the loop counts as 8 nanoseconds."""
    element: constexpr = pointer.dtype.element_ty
    static_assert(element.is_int() and element.primitive_bitwidth >= 16,
                  f"atomic_poll only supports integer elements with width 16, 32 or 64, not {element}")
    wanted = cast(expected_value, element)
    found = atomic_load(pointer, sem=sem, scope=scope) == wanted
    if timeout_ns is None:
        while _any_left(found):
            found = found | (atomic_load(pointer, mask=~found, sem=sem, scope=scope) == wanted)
    else:
        budget = cast(timeout_ns, uint64)
        passed = cast(0, uint64)
        start = cast(extra.cuda.globaltimer(), uint64) if target_info.is_cuda() else passed
        while _any_left(found) & (passed < budget):
            found = found | (atomic_load(pointer, mask=~found, sem=sem, scope=scope) == wanted)
            passed = cast(extra.cuda.globaltimer(), uint64) - start if target_info.is_cuda() else passed + 8
    return found
