"""`TRITON_SANITIZE` on the simulated GPU: each word finds its fault, and nothing in the kernel without it."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _simulators import simulators
from triton.backends.sim.driver import SimDriver
from triton.errors import TritonError
from triton.runtime import driver
from triton.runtime.errors import SanitizerError
from triton.tools.ptx import run_ptx


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = tl.load(y_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x + y, mask=offsets < n)


@triton.jit
def store_before(out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK) - 1, 1.0)


@triton.jit
def increment(out_ptr, first, BLOCK: tl.constexpr):
    tl.atomic_add(out_ptr + first + tl.arange(0, BLOCK), 1)


@triton.jit
def total(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.sum(x))


@triton.jit
def gather(table_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    """Loads pointers and indices; only the pointers of arguments can be checked."""
    offsets = tl.arange(0, BLOCK)
    row = tl.load(table_ptr).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr + offsets, tl.load(row + tl.load(index_ptr + offsets)))


@triton.jit
def copy_tile(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [M, N])
    out = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [M, N])
    out.store([0, 0], x.load([M, 0]))


simulator = simulators("sim", "sim:80")


def report(run) -> list[str]:
    """The lines of the report of a fault."""
    with pytest.raises(SanitizerError) as raised:
        run()
    return str(raised.value).splitlines()


def test_bounds_of_an_argument(simulator):
    x, y = np.ones((2, 1000), np.float32)
    out = np.empty_like(x)
    add[(4,)](x, y, out, x.size, BLOCK=256, sanitize="bounds")
    lines = report(lambda: add[(4,)](x, y, out, 1001, BLOCK=256, sanitize="bounds"))
    assert lines[0].endswith(
        "element 1000 of `x_ptr`, at byte 4000, is read; `x_ptr` has 1000 elements, 4000 bytes [sanitize-bounds]"
    )
    assert "test_simulator_sanitizer.py:19:9: error: " in lines[0]
    assert lines[1].strip().startswith("x = tl.load(x_ptr + offsets")
    assert lines[2] == " " * 8 + "^"
    assert lines[3].startswith("note: in program (3, 0, 0) of `add`, warp 3, lane ")
    assert lines[4].startswith("note: line ") and " of the PTX: " in lines[4]


def test_bounds_of_stores_and_atomics(simulator):
    memory = np.zeros(34, np.float32)
    lines = report(lambda: store_before[(1,)](memory[1:33], BLOCK=32, sanitize="bounds"))
    assert "element -1 of `out_ptr`, at byte -4, is written; `out_ptr` has 32 elements" in lines[0]
    assert not memory.any()
    counts = np.zeros(64, np.int32)
    increment[(1,)](counts, 32, BLOCK=32, sanitize="bounds")
    lines = report(lambda: increment[(1,)](counts, 40, BLOCK=32, sanitize="bounds"))
    assert "element 64 of `out_ptr`, at byte 256, is updated" in lines[0]


def test_bounds_of_pointers_in_memory(simulator):
    row, out = np.arange(64, dtype=np.float32), np.zeros(32, np.float32)
    table, index = np.array([row.ctypes.data]), np.arange(32, dtype=np.int64) * 2
    gather[(1,)](table, index, out, BLOCK=32, sanitize="bounds")
    assert np.array_equal(out, row[::2])
    lines = report(lambda: gather[(1,)](table, index[:31], out, BLOCK=32, sanitize="bounds"))
    assert "element 31 of `index_ptr`" in lines[0]


def test_boxes_of_tensor_maps_may_reach_outside(simulator):
    x, out = np.ones((24, 32), np.float32), np.empty((16, 32), np.float32)
    copy_tile[(1,)](x, out, 24, 32, M=16, N=32, sanitize="bounds")
    assert out[:8].all() and not out[8:].any()
    lines = report(lambda: copy_tile[(1,)](x, out, 25, 32, M=16, N=32, sanitize="bounds"))
    assert "element 768 of `x_ptr`, at byte 3072, is read" in lines[0]


def test_unwritten_shared_memory(simulator):
    x, out = np.arange(1024, dtype=np.float32), np.empty(1, np.float32)
    kernel = total[(1,)](x, out, BLOCK=1024, sanitize="uninit")
    assert out[0] == x.sum()
    ptx = kernel.asm["ptx"]
    assert "st.shared" in ptx
    launch = dict(num_warps=4, shared=kernel.metadata.shared, sanitize="uninit")
    run_ptx(ptx, (1,), [x, out, 0, 0], **launch)
    removed = "\n".join(line for line in ptx.splitlines() if "st.shared" not in line)
    lines = report(lambda: run_ptx(removed, (1,), [x, out, 0, 0], **launch))
    assert "of shared memory is read, and nobody has written it [sanitize-uninit]" in lines[0]
    assert lines[1].strip() == "tl.store(out_ptr, tl.sum(x))"


@triton.jit
def square(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + at, tl.dot(tl.load(x_ptr + at), tl.load(y_ptr + at)))


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950"])
def test_unwritten_shared_memory_in_a_product(arch, tmp_path):
    """What a matrix instruction computes from undefined operands is undefined."""
    driver.set_active(SimDriver(f"sim:{arch}"))
    try:
        x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float16)
        out = np.empty((64, 64), np.float32)
        kernel = square[(1,)](x, x, out, N=64, sanitize="uninit")
        np.testing.assert_allclose(out, x.astype(np.float32) @ x, rtol=1e-4, atol=1e-4)
        lines = kernel.asm["llir"].splitlines()
        kept = [line for line in lines if not ("store" in line and "addrspace(3)" in line)]
        assert len(kept) < len(lines)
        assert "amdgcn.mfma" in "".join(kept)
        path = tmp_path / "square.llir"
        path.write_text("\n".join(kept))
        found = report(
            lambda: square[(1,)](x, x, out, N=64, ir_override=str(path), sanitize="uninit")
        )
        assert "of shared memory is read, and nobody has written it [sanitize-uninit]" in found[0]
    finally:
        driver.reset_active()


def test_unwritten_registers():
    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 out)
{
  .reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 mov.u32 %r2, 7;
  add.u32 %r3, %r2, 1;
  and.b32 %r4, %r3, 0;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  GUARD st.global.u32 [%rd1], %r3;
  ret;
}"""
    out = np.zeros(32, np.uint32)
    run_ptx(text.replace("GUARD", "@%p1"), (1,), [out], num_warps=1, sanitize="uninit")
    assert (out[:16] == 8).all()
    lines = report(
        lambda: run_ptx(text.replace("GUARD", ""), (1,), [out], num_warps=1, sanitize="uninit")
    )
    assert lines[0] == (
        "line 11 of the PTX: error: a register is read that nobody has written [sanitize-uninit]"
    )
    assert lines[2] == "note: in program (0, 0, 0) of `kernel`, warp 0, lane 16"
    assert lines[4] == "line 15 of the PTX: note: its value is written to global memory here"


def test_words(simulator):
    x = np.zeros(32, np.float32)
    with pytest.raises(ValueError, match="`bond` is no sanitizer"):
        store_before[(1,)](x, BLOCK=32, sanitize="bond")
    with pytest.raises(
        TritonError, match="`nan`, which target `cuda:.0.*` does not have; it has bounds"
    ):
        store_before[(1,)](x, BLOCK=32, sanitize="bounds,nan")


def test_checks_do_not_change_the_code(simulator):
    x, y = np.ones((2, 1000), np.float32)
    plain = add[(4,)](x, y, x, x.size, BLOCK=256)
    checked = add[(4,)](x, y, x, x.size, BLOCK=256, sanitize="bounds,uninit,race,sync")
    assert plain.asm["ptx"] == checked.asm["ptx"]
