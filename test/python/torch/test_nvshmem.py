"""Kernels with torch's NVSHMEM functions: its decorator, library and hook, on a driver that records every call."""
# SPDX-License-Identifier: MIT

import importlib
import os
import sys

import pytest
import triton

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from _cuda_launches import A, B
from _stub_cuda import exchange_array_class, use_stub
from test_host_variables import bitcode

LIBRARY = """
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
@nvshmemi_device_state_d = addrspace(4) externally_initialized global [16 x i64] zeroinitializer, align 8
define i32 @nvshmem_my_pe() {
  %pe = load i32, ptr addrspace(4) @nvshmemi_device_state_d
  ret i32 %pe
}
define i32 @nvshmem_n_pes() {
  ret i32 2
}
define void @nvshmemx_putmem_block(ptr %dest, ptr %source, i64 %bytes, i32 %pe) {
  %word = load i8, ptr %source
  store i8 %word, ptr %dest
  ret void
}
define void @nvshmemx_getmem_block(ptr %dest, ptr %source, i64 %bytes, i32 %pe) {
  %word = load i8, ptr %source
  store i8 %word, ptr %dest
  ret void
}
define void @nvshmem_quiet() {
  fence seq_cst
  ret void
}
"""


@pytest.fixture
def stub():
    yield from use_stub("devices=2")


@pytest.fixture
def nvshmem(tmp_path, monkeypatch):
    """torch's module, with a library of our own in place of NVSHMEM's, and the modules that it has initialised."""
    module = pytest.importorskip("torch.distributed._symmetric_memory._nvshmem_triton")
    bitcode(tmp_path / "libnvshmem_device.bc", LIBRARY)
    monkeypatch.setenv("NVSHMEM_LIB_DIR", str(tmp_path))
    monkeypatch.setattr(module.NvshmemLibFinder, "found_device_lib_path", None)
    c10d = importlib.import_module("torch._C._distributed_c10d")
    module.initialized = []
    monkeypatch.setattr(c10d, "_nvshmemx_cumodule_init", module.initialized.append, raising=False)
    with triton.knobs.runtime.scope():
        yield module
    del module.initialized


def test_torch_initialises_the_module_before_the_first_launch(stub, nvshmem):
    array = exchange_array_class()
    put, get, my_pe, quiet = nvshmem.put, nvshmem.get, nvshmem.my_pe, nvshmem.quiet

    @nvshmem.requires_nvshmem
    @triton.jit
    def exchange(dest, source, n):
        peer = 1 - my_pe()
        put(dest, source, n, peer)
        quiet()
        get(source, dest, n, peer)

    for _ in range(2):
        exchange[(1,)](array(A, 1), array(B, 1), 64)
    (module,) = nvshmem.initialized
    assert isinstance(module, int) and module
    assert [launch["device"] for launch in stub.launches()] == [1, 1]
    assert len(stub.calls("cuModuleLoadDataEx")) == 1
