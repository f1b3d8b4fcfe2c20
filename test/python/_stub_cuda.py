"""CUDA without a GPU: the stub driver of test/stub, arrays "on a GPU", hand-made kernels."""
# SPDX-License-Identifier: MIT

import ctypes
import json
import os
import re
import sys

import triton
from triton import knobs
from triton._C import libtriton
from triton.backends.nvidia.driver import CUDADriver
from triton.compiler.compiler import CompiledKernel, make_backend
from triton.compiler.metadata_group import MetadataGroup

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(ROOT, "build", "dev", "test", "stub", "libcuda.so.1")
MISSING = "the stub of libcuda is not built"


def format_version():
    """The format of artifacts that this build reads."""
    with open(os.path.join(ROOT, "artifact", "Artifact.h")) as header:
        return int(re.search(r"kFormatVersion = (\d+);", header.read())[1])


class Stub:
    """A stub's own functions; test/stub/Stub.h describes the settings."""

    def __init__(self, path=LIBRARY, launch_call="cuLaunchKernelEx"):
        self.library = ctypes.CDLL(path)
        self.launch_call = launch_call
        self.library.stub_log.restype = ctypes.c_char_p
        self.library.stub_launches.restype = ctypes.c_uint64
        self.library.stub_exchange_table.restype = ctypes.c_void_p
        self.library.stub_add_memory.argtypes = (
            ctypes.c_uint64,
            ctypes.c_uint64,
            ctypes.c_int,
            ctypes.c_int,
        )
        self.library.stub_set_current_stream.argtypes = (ctypes.c_uint64,)

    def configure(self, settings=""):
        self.library.stub_configure(settings.encode())

    def calls(self, name=None):
        lines = [json.loads(line) for line in self.library.stub_log().decode().splitlines()]
        return [line for line in lines if name in (None, line["call"])]

    def launches(self):
        return self.calls(self.launch_call)

    def clear(self):
        self.library.stub_clear()

    def add_memory(self, start, size, on_host=False, device=0):
        self.library.stub_add_memory(start, size, 1 if on_host else 2, device)

    def set_current_stream(self, stream):
        self.library.stub_set_current_stream(stream)

    def set_capturing(self, on):
        self.library.stub_set_capturing(int(on))

    def checksum(self, data):
        out = ctypes.create_string_buffer(16)
        self.library.stub_checksum(data, ctypes.c_uint64(len(data)), out)
        return out.raw


def use_stub(settings=""):
    """Generator for the fixtures: CUDA is the active driver, on the stub."""
    import pytest

    if not os.path.exists(LIBRARY):
        pytest.skip(MISSING)
    if getattr(getattr(sys.modules.get("torch"), "version", None), "cuda", None):
        pytest.skip("torch is built for CUDA here, and names device and stream itself")
    stub = Stub()
    stub.configure(settings)
    stub.set_current_stream(0)
    stub.set_capturing(False)
    config = triton.runtime.driver
    with knobs.nvidia.scope():
        knobs.nvidia.libcuda_path = LIBRARY
        config.set_active(CUDADriver())
        stub.clear()
        try:
            yield stub
        finally:
            config.reset_active()
            config._by_device.pop("cuda", None)
            stub.configure()
    libtriton.driver_cuda.set_library("")


# --- Arrays ---------------------------------------------------------------------------------------


class InterfaceArray:
    """Memory on a GPU as numba and cupy expose it."""

    def __init__(self, address, typestr="<f4", stream=None, dtype=None, read_only=False):
        self.address, self.typestr, self.stream, self.dtype = address, typestr, stream, dtype
        self.read_only = read_only

    @property
    def __cuda_array_interface__(self):
        return {
            "data": (self.address, self.read_only),
            "typestr": self.typestr,
            "shape": (1024,),
            "strides": None,
            "stream": self.stream,
            "version": 3,
        }


def exchange_array_class(path=LIBRARY):
    """A class with DLPack's exchange table, as torch.Tensor has it."""
    table = Stub(path).library.stub_exchange_table()
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)

    class ExchangeArray:
        __dlpack_c_exchange_api__ = make(table, b"dlpack_exchange_api", None)

        def __init__(self, address, device_id=0, type_code=2, type_bits=32):
            self.address = address
            self.properties = device_id << 16 | type_code << 8 | type_bits

    return ExchangeArray


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class DLPackArray:
    """Memory on a GPU of a library that supports only DLPack; records the streams it was called with."""

    def __init__(self, address, device_id=0, device_type=2):
        self.managed = _Tensor(
            address, device_type, device_id, 1, 2, 32, 1, None, None, 0, None, None
        )
        self.streams = []

    def __dlpack_device__(self):
        return self.managed.device_type, self.managed.device_id

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return make(ctypes.addressof(self.managed), b"dltensor", None)


# --- Kernels --------------------------------------------------------------------------------------

_BYTES = {"fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8}


def _bytes_of(kind):
    if kind.startswith("*"):
        return 8
    return _BYTES.get(kind) or max(int(re.sub(r"\D", "", kind)) // 8, 1)


def _kind_of(kind):
    if kind.startswith("*"):
        return "pointer"
    return "bool" if kind in ("i1", "u1") else "float" if kind.startswith(("fp", "bf")) else "int"


def _layout(kinds, reads):
    """The parameters of an artifact, each at a multiple of its size."""
    parameters, end = [], 0
    for param, kind, position in kinds:
        size = _bytes_of(kind)
        offset = -(-end // size) * size
        end = offset + size
        parameters.append(
            {
                "name": param,
                "kind": _kind_of(kind),
                "type": kind,
                "offset": offset,
                "size": size,
                "position": position,
                "written": param not in reads,
            }
        )
    return parameters


def _ptx(name, parameters, fields):
    lines = [f"  .param .u{each['size'] * 8} {each['name']}" for each in parameters]
    lines += [
        f"  .param .align 64 .b8 map{index}[128]"
        for index in range(len(fields.get("tensorMaps", ())))
    ]
    if fields.get("persistent"):
        lines += [f"  .param .u32 grid{axis}" for axis in "XYZ"]
        lines += ["  .param .u64 .ptr .global .align 8 counters"]
    lines += [
        f"  .param .u64 .ptr .global .align 1 {scratch}" for scratch in ("_global", "_profile")
    ]
    body = ",\n".join(lines)
    return f".version 8.0\n.target sm_90\n.visible .entry {name}(\n{body}\n) {{ ret; }}\n".encode()


def artifact_bytes(stub, name, kinds, reads=(), make_binary=_ptx, **fields):
    """An artifact file for sm_90: `kinds` are (name, type, position) of its run-time parameters,
    `reads` names the pointers that are only read.
    """
    parameters = _layout(kinds, reads)
    binary = make_binary(name, parameters, fields)
    header = {
        "name": name,
        "entry": name,
        "hash": "00" * 32,
        "signature": "",
        "target": {"backend": "cuda", "arch": "90", "features": "", "warpSize": 32},
        "abi": "plain",
        "parameters": parameters,
        "preconditions": [],
        "tensorMaps": [],
        "conditions": [],
        "persistent": False,
        "options": {},
        "blockDims": [128, 1, 1],
        "clusterDims": [1, 1, 1],
        "cooperative": False,
        "programmaticLaunch": False,
        "sharedBytes": 0,
        "globalScratchBytes": 0,
        "globalScratchAlign": 1,
        "profileScratchBytes": 0,
        "profileScratchAlign": 1,
        "arenaBytes": 0,
        "arenaAlign": 64,
        "registers": 32,
        "spills": 0,
        "tool": "driver",
        "toolVersion": "",
        "sourceMap": {"files": [], "entries": []},
        "blobs": {"binaryBytes": len(binary), "stages": []},
        **fields,
    }
    text = json.dumps(header).encode()
    size = 24 + len(text) + len(binary) + 16
    version = format_version().to_bytes(4, "little")
    start = b"\x89NRK\r\n\x1a\n" + version + len(text).to_bytes(4, "little")
    data = start + size.to_bytes(8, "little") + text + binary
    return data + stub.checksum(data)


def compile_by_hand(stub, reads=("x_ptr",), **fields):
    """A replacement of `triton.compile`: its kernels have the right parameters and do nothing."""

    def compile(src, target=None, options=None, **_):  # noqa: A001
        backend = make_backend(target)
        parsed = backend.parse_options(options or {})
        constant = {path[0] for path in src.constants if len(path) == 1}
        kinds = [
            (name, kind, position)
            for position, (name, kind) in enumerate(src.signature.items())
            if kind != "constexpr" and position not in constant
        ]
        settings = {
            "blockDims": [parsed.warp_size * parsed.num_warps, 1, 1],
            "clusterDims": [parsed.num_ctas, 1, 1],
            "cooperative": parsed.launch_cooperative_grid,
            "programmaticLaunch": getattr(parsed, "launch_pdl", False),
            **fields,
        }
        data = artifact_bytes(stub, src.fn.__name__, kinds, reads, **settings)
        code = libtriton.load_artifact(data)
        return CompiledKernel(src, MetadataGroup(code, target, parsed), code.hash)

    return compile
