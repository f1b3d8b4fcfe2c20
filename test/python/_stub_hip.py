"""HIP without a GPU: the stub of libamdhip64 in test/stub, and hand-made code objects."""
# SPDX-License-Identifier: MIT

import os
import struct

import pytest
import triton
import triton.language as tl
from _stub_cuda import ROOT, Stub
from _stub_cuda import compile_by_hand as compile_with
from triton import knobs
from triton._C import libtriton
from triton.backends.amd.driver import HIPDriver

LIBRARY = os.path.join(ROOT, "build", "dev", "test", "stub", "libamdhip64.so.6")
MISSING = "the stub of libamdhip64 is not built"


def use_hip_stub(settings=""):
    """Generator for the fixtures: HIP is the active driver, on the stub."""
    if not os.path.exists(LIBRARY):
        pytest.skip(MISSING)
    stub = Stub(LIBRARY, "hipModuleLaunchKernel")
    stub.configure(settings)
    stub.set_current_stream(0)
    config = triton.runtime.driver
    with knobs.amd.scope():
        knobs.amd.libhip_path = LIBRARY
        config.set_active(HIPDriver())
        stub.clear()
        try:
            yield stub
        finally:
            config.reset_active()
            config._by_device.pop("hip", None)
            stub.configure()
    libtriton.driver_hip.set_library("")


# --- Code objects ---------------------------------------------------------------------------------


def _packed(value):
    """MessagePack of texts, numbers, lists and dictionaries."""
    if isinstance(value, str):
        data = value.encode()
        return b"\xd9" + bytes([len(data)]) + data
    if isinstance(value, int):
        return b"\xce" + struct.pack(">I", value)
    if isinstance(value, list):
        return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(_packed, value))
    pairs = b"".join(_packed(key) + _packed(item) for key, item in value.items())
    return b"\xde" + struct.pack(">H", len(value)) + pairs


def _argument(offset, size, kind):
    return {".offset": offset, ".size": size, ".value_kind": kind}


def code_object(name, parameters, fields=None):
    """An ELF file that has only the metadata of a kernel: AMDGPU's ABI, code object version 5."""
    end = max((each["offset"] + each["size"] for each in parameters), default=0)
    scratch = -(-end // 8) * 8
    arguments = [_argument(each["offset"], each["size"], "by_value") for each in parameters]
    arguments += [_argument(scratch + 8 * index, 8, "global_buffer") for index in range(2)]
    arguments.append(_argument(scratch + 16, 4, "hidden_block_count_x"))
    content = _packed({"amdhsa.kernels": [{".name": name, ".args": arguments}]})
    note = struct.pack("<III", 7, len(content), 32) + b"AMDGPU\0\0" + content
    note += b"\0" * (-len(note) % 4)
    header = (
        b"\x7fELF"
        + b"\2\1\1"
        + b"\0" * 9
        + struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    )
    segment = struct.pack("<IIQQQQQQ", 4, 4, 120, 0, 0, len(note), len(note), 4)
    return header + segment + note


def compile_by_hand(stub):
    """A replacement of `triton.compile`: its code is a code object without instructions."""
    target = {"backend": "hip", "arch": "gfx942", "features": "", "warpSize": 64}
    return compile_with(stub, make_binary=code_object, target=target, tool="lld")


def make_kernel():
    @triton.jit
    def kernel(x_ptr, n, scale, flag, y_ptr, BLOCK: tl.constexpr = 64):
        tl.store(y_ptr, tl.load(x_ptr) * scale + n)

    return kernel
