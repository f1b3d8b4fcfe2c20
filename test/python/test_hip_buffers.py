"""Buffer instructions of AMD's GPUs: what launches tell of storages, and kernels on simulated GPUs against NumPy."""
# SPDX-License-Identifier: MIT

import re

import numpy as np
import pytest
import triton
import triton.language as tl
from _simulators import simulators
from triton import knobs
from triton._C import libtriton
from triton.backends.amd.compiler import HIPBackend
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.backends.sim.driver import SimDriver
from triton.compiler import ASTSource
from triton.runtime import driver
from triton.runtime.errors import SanitizerError

GFX942 = GPUTarget("hip", "gfx942", 64)
BUFFER = re.compile(r"buffer_(?:load|store)_\w+")


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = tl.load(y_ptr + offsets, mask=offsets < n, other=3.0)
    tl.store(out_ptr + offsets, x + y, mask=offsets < n)


@triton.jit
def scale(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    tl.assume(stride >= 0)
    i = tl.arange(0, BLOCK) * stride
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n, other=-1) * 2, mask=i < n)


@triton.jit
def negative(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i * stride))


@triton.jit
def previous(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i - 1))


@triton.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pointers = x_ptr + tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        sums += tl.load(pointers, mask=start + tl.arange(0, BLOCK) < n, other=0.0)
        pointers += BLOCK
    tl.store(out_ptr, tl.sum(sums))


@triton.jit
def nested(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    pointers = x_ptr + tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), tl.int32)
    for _row in range(rows):
        for _ in range(0, cols, BLOCK):
            sums = sums * 3 + tl.load(pointers)
            pointers += BLOCK
        pointers += 1
    tl.store(out_ptr + tl.arange(0, BLOCK), sums)


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tl.assume(sam > 0)
    tl.assume(sak > 0)
    tl.assume(sbk > 0)
    tl.assume(sbn > 0)
    m = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    n = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    a = a_ptr + m[:, None] * sam + k[None, :] * sak
    b = b_ptr + k[:, None] * sbk + n[None, :] * sbn
    sums = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a, mask=k[None, :] < K - start, other=0.0)
        y = tl.load(b, mask=k[:, None] < K - start, other=0.0)
        sums = tl.dot(x, y, sums)
        a += BK * sak
        b += BK * sbk
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    tl.store(
        c_ptr + m[:, None] * N + n[None, :],
        sums.to(c_ptr.dtype.element_ty),
        mask=(m[:, None] < M) & (n[None, :] < N),
    )


simulator = simulators("sim:gfx942", "sim:gfx1100")


def buffers(kernel) -> int:
    return len(BUFFER.findall(kernel.asm["amdgcn"]))


def short_arguments(kernel) -> int:
    return kernel.asm["ttir"].count("tt.pointer_range = 32 : i32")


# --- What launches tell ---------------------------------------------------------------------------


def key_of(backend, array, **rules) -> str:
    given = dict(is_const=False, specialize_value=True, align=True) | rules
    return libtriton.native_specialize_impl(backend, array, **given)[1]


def test_keys_of_numpy_arrays():
    small, large = np.zeros(64, np.float32), np.empty(2**31, np.int8)
    assert key_of(HIPBackend, small) in ("DS", "S")
    assert key_of(HIPBackend, small[1:2])[-1] == "S"
    assert "S" not in key_of(HIPBackend, large)
    assert "S" not in key_of(HIPBackend, large[:64])  # the storage counts, not the view
    assert key_of(HIPBackend, np.empty(2**31 - 1, np.int8))[-1] == "S"
    part_of_anything = np.frombuffer(b"abcd", np.int8)
    assert "S" not in key_of(HIPBackend, part_of_anything)
    assert key_of(HIPBackend, small, specialize_value=False) is None
    assert key_of(HIPBackend, 64) == "D"


def test_keys_of_torch_tensors():
    torch = pytest.importorskip("torch")
    small, large = torch.zeros(64), torch.empty(2**31, dtype=torch.int8)
    assert key_of(HIPBackend, small) == "DS" and key_of(HIPBackend, small[1:]) == "S"
    assert key_of(HIPBackend, small, align=False) == "S"
    assert key_of(HIPBackend, small.numpy())[-1] == "S"  # numpy's array has the tensor as its base
    assert key_of(HIPBackend, large) == "D" and key_of(HIPBackend, large[:64]) == "D"
    assert key_of(HIPBackend, triton.reinterpret(small, tl.int32)) == "DS"
    assert HIPBackend.get_tensor_specialization(small) == "DS"
    assert HIPBackend.is_within_2gb(small) and not HIPBackend.is_within_2gb(large)


def test_other_targets_keep_their_keys():
    small = np.zeros(64, np.float32)
    for backend in (None, CUDABackend, triton.backends.compiler.BaseBackend):
        assert key_of(backend, small) in ("D", "")
    assert HIPBackend.parse_attr("DS") == [["tt.divisibility", 16], ["tt.pointer_range", 32]]


def test_launches_with_larger_storages_have_their_own_kernel(simulator):
    """The key of a launch that is known tells storages apart, too."""
    whole = np.empty(2**29 + 64, np.float32)
    small, view = np.arange(64, dtype=np.float32), whole[:64]
    view[:] = small
    for _ in range(2):
        out = np.zeros(64, np.float32)
        kernel = add[(2,)](small, small, out, 61, BLOCK=32)
        assert short_arguments(kernel) == 3 and buffers(kernel) == 3
        assert np.array_equal(out[:61], 2 * small[:61]) and not out[61:].any()
        kernel = add[(2,)](view, small, out, 61, BLOCK=32)
        assert short_arguments(kernel) == 2
        assert np.array_equal(out[:61], 2 * small[:61])
        kernel = scale[(1,)](view, out, 64, 3, BLOCK=16)
        assert buffers(kernel) == 1  # the store's: the stride has no upper bound
        kernel = scale[(1,)](small, out, 64, 3, BLOCK=16)
        assert buffers(kernel) == 2


def compiled_scale(pointer_ranges: dict[int, int]):
    types = ("*fp32", "*fp32", "i32", "i32", "constexpr")
    signature = dict(zip(("x_ptr", "out_ptr", "n", "stride", "BLOCK"), types, strict=True))
    attrs = {(index,): [["tt.pointer_range", bits]] for index, bits in pointer_ranges.items()}
    return triton.compile(ASTSource(scale, signature, {"BLOCK": 256}, attrs), target=GFX942)


def test_attributes_of_a_source():
    assert buffers(compiled_scale({})) == 0
    assert buffers(compiled_scale({0: 32})) == 1
    assert buffers(compiled_scale({0: 32, 1: 32})) == 2
    with pytest.raises(ValueError, match="tt.pointer_range must be 32, got 16"):
        compiled_scale({0: 16})


def test_attributes_of_imported_ttir(tmp_path):
    text = compiled_scale({0: 32, 1: 32}).asm["ttir"]
    path = tmp_path / "scale.ttir"
    path.write_text(text)
    assert buffers(triton.compile(str(path), target=GFX942)) == 2
    path.write_text(text.replace("tt.pointer_range = 32", "tt.other = 32"))
    assert buffers(triton.compile(str(path), target=GFX942)) == 0


def test_the_setting_switches_them_off(simulator):
    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    assert buffers(add[(1,)](x, x, out, 29, BLOCK=32)) == 3
    with knobs.amd.scope():
        knobs.amd.use_buffer_ops = False
        kernel = add[(1,)](x, x, out, 29, BLOCK=32)
        assert buffers(kernel) == 0 and kernel.metadata.use_buffer_ops is False
        assert np.array_equal(out[:29], 2 * x[:29])
    assert buffers(add[(1,)](x, x, out, 29, BLOCK=32)) == 3


# --- Results --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.int64])
@pytest.mark.parametrize("n", [1, 7, 127, 1021])
def test_masked_tails(simulator, dtype, n):
    generator = np.random.default_rng(n)
    x, y = generator.integers(-9, 9, (2, 1200)).astype(dtype)
    out = np.full(1200, 77, dtype)
    kernel = add[(4,)](x, y, out, n, BLOCK=256)
    assert buffers(kernel) >= 3
    assert np.array_equal(out[:n], x[:n] + y[:n]) and (out[n:] == 77).all()


@pytest.mark.parametrize("start", [0, 1, 4, 16])
def test_views_with_an_offset(simulator, start):
    memory = np.arange(600, dtype=np.float32)
    out = np.zeros(600, np.float32)
    kernel = add[(2,)](memory[start:], memory[100:], out[start : start + 500], 487, BLOCK=256)
    assert buffers(kernel) >= 3
    assert np.array_equal(out[start : start + 487], memory[start : start + 487] + memory[100:587])
    assert not out[:start].any() and not out[start + 487 :].any()


@pytest.mark.parametrize("stride", [0, 2, 3, 16, 37])
def test_strides(simulator, stride):
    x, out = np.arange(1000, dtype=np.int32), np.zeros(1000, np.int32)
    kernel = scale[(1,)](x, out, 997, stride, BLOCK=64)
    wanted = np.zeros(1000, np.int32)
    at = np.arange(64) * stride
    at = at[at < 997]
    wanted[at] = x[at] * 2
    assert buffers(kernel) >= 2 and np.array_equal(out, wanted)


def test_negative_offsets(simulator):
    x, out = np.arange(512, dtype=np.float32), np.zeros(256, np.float32)
    kernel = negative[(1,)](x[300:], out, -1, BLOCK=256)
    assert len(re.findall("buffer_load", kernel.asm["amdgcn"])) == 0
    assert np.array_equal(out, x[300:44:-1])
    kernel = previous[(1,)](x[1:], out, BLOCK=256)  # a scalar may be negative
    assert len(re.findall("buffer_load", kernel.asm["amdgcn"])) > 0
    assert np.array_equal(out, x[:256])


@pytest.mark.parametrize("n", [1, 31, 64, 1009])
def test_pointers_that_a_loop_moves(simulator, n):
    x, out = np.random.default_rng(n).standard_normal(n).astype(np.float32), np.zeros(1, np.float32)
    kernel = total[(1,)](x, out, n, BLOCK=64)
    assert buffers(kernel) >= 1
    np.testing.assert_allclose(out[0], x.sum(dtype=np.float64), rtol=1e-5, atol=1e-5)


def test_pointers_that_nested_loops_move(simulator):
    rows, cols, block = 5, 96, 32
    x = np.random.default_rng(0).integers(0, 5, rows * (cols + 1)).astype(np.int32)
    out, wanted = np.zeros(block, np.int32), np.zeros(block, np.int32)
    kernel = nested[(1,)](x, out, rows, cols, BLOCK=block)
    for row in range(rows):
        for start in range(0, cols, block):
            at = row * (cols + 1) + start
            wanted = wanted * 3 + x[at : at + block]
    assert buffers(kernel) >= 2 and np.array_equal(out, wanted)


@pytest.mark.parametrize("shape", [(64, 64, 64), (67, 33, 101), (1, 1, 1), (128, 17, 200)])
@pytest.mark.parametrize("transposed", [False, True])
def test_matmul(simulator, shape, transposed):
    m, n, k = shape
    generator = np.random.default_rng(m + n + k)
    a = generator.standard_normal((m, k)).astype(np.float16)
    b = generator.standard_normal((n, k) if transposed else (k, n)).astype(np.float16)
    b = b.T if transposed else b
    c = np.zeros((m, n), np.float32)
    strides = [step // 2 for step in (*a.strides, *b.strides)]
    blocks = dict(BM=32, BN=32, BK=32)
    kernel = matmul[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, c, m, n, k, *strides, **blocks)
    assert len(re.findall("buffer_load", kernel.asm["amdgcn"])) >= 2
    assert "global_load" not in kernel.asm["amdgcn"]
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=2e-3, atol=2e-3)


# --- The sanitizer --------------------------------------------------------------------------------


def test_an_access_outside_is_found_at_its_line(simulator):
    x, y = np.ones((2, 1000), np.float32)
    out = np.empty_like(x)
    kernel = add[(4,)](x, y, out, x.size, BLOCK=256, sanitize="bounds")
    assert buffers(kernel) >= 3
    with pytest.raises(SanitizerError) as raised:
        add[(4,)](x, y, out, 1001, BLOCK=256, sanitize="bounds")
    lines = str(raised.value).splitlines()
    assert "element 1000 of `x_ptr`, at byte 4000, is read; `x_ptr` has 1000 elements" in lines[0]
    assert lines[1].strip().startswith("x = tl.load(x_ptr + offsets")


def test_an_access_far_outside_is_found(simulator):
    """A launch that looks for such accesses does not rely on there being none."""
    x, out = np.ones(100, np.int32), np.ones(100, np.int32)
    kernel = scale[(1,)](x, out, 100, 3, BLOCK=16, sanitize="bounds")
    assert buffers(kernel) == 0
    with pytest.raises(SanitizerError, match="of `x_ptr`, at byte 4294967296, is read"):
        scale[(1,)](x, out, 2**31 - 1, 2**30, BLOCK=2, sanitize="bounds")


# --- Loads to LDS ---------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["sim:gfx942", "sim:gfx950"])
@pytest.mark.parametrize("num_stages", [2, 3])
@pytest.mark.parametrize("shape", [(64, 64, 32), (67, 33, 208), (40, 70, 96), (33, 65, 101)])
def test_matmul_by_loads_to_lds(device, num_stages, shape):
    m, n, k = shape
    generator = np.random.default_rng(k)
    a = generator.standard_normal((m, k)).astype(np.float16)
    b = generator.standard_normal((n, k)).astype(np.float16).T
    c = np.zeros((m, n), np.float32)
    strides = [step // 2 for step in (*a.strides, *b.strides)]
    driver.set_active(SimDriver(device))
    try:
        kernel = matmul[(triton.cdiv(m, 64), triton.cdiv(n, 64))](
            a,
            b,
            c,
            m,
            n,
            k,
            *strides,
            BM=64,
            BN=64,
            BK=64,
            num_stages=num_stages,
            use_async_copy=True,
        )
    finally:
        driver.reset_active()
    loads = re.findall(r"buffer_load_(dword\w*) .* lds\b", kernel.asm["amdgcn"])
    # With 101 columns no vector is aligned: the tile goes through registers.
    wide = "dwordx4" if device == "sim:gfx950" else "dword"
    assert set(loads) == (set() if k % 16 else {wide})
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=2e-3, atol=5e-3)


def test_the_architecture_chooses_loads_to_lds():
    constants = {"sak": 1, "sbk": 1, "BM": 64, "BN": 64, "BK": 64}
    types = ["*fp16"] * 3 + ["i32"] * 10
    signature = dict(zip(matmul.arg_names, types, strict=True)) | dict.fromkeys(
        constants, "constexpr"
    )
    attrs = {(at,): [["tt.divisibility", 16], ["tt.pointer_range", 32]] for at in range(3)}
    attrs |= {(at,): [["tt.divisibility", 16]] for at in (5, 6, 9)}

    def has_loads(arch, **options):
        source = ASTSource(matmul, signature, constants, attrs)
        kernel = triton.compile(source, target=GPUTarget("hip", arch, 64), options=options)
        return bool(re.search(r"buffer_load_\w+ .* lds\b", kernel.asm["amdgcn"]))

    assert has_loads("gfx950") and not has_loads("gfx942")
    assert not has_loads("gfx950", use_async_copy=False) and has_loads(
        "gfx942", use_async_copy=True
    )
    assert not has_loads("gfx90a", use_async_copy=True)
    with knobs.amd.scope():
        knobs.amd.use_async_copy = False
        assert not has_loads("gfx950")
