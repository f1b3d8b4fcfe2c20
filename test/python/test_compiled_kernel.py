"""`triton.compile`, `warmup` and the attributes of the compiled kernel."""
# SPDX-License-Identifier: MIT

import os
import pickle

import numpy as np
import pytest
import triton
import triton.language as tl
from _vectors import add_kernel, arrays
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompiledKernel


@triton.jit
def sum_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK)), axis=0))


TARGET = GPUTarget("cpu", "", 32)
SIGNATURE = {
    "x_ptr": "*fp32",
    "y_ptr": "*fp32",
    "out_ptr": "*fp32",
    "n": "i32",
    "BLOCK": "constexpr",
}


pytestmark = pytest.mark.usefixtures("own_cache")


def compiled(**options):
    source = ASTSource(add_kernel, SIGNATURE, {"BLOCK": 64}, {(0,): [["tt.divisibility", 16]]})
    return triton.compile(source, target=TARGET, options=options)


def test_source_normalises_its_keys():
    for constants in ({"BLOCK": 64}, {4: 64}, {(4,): 64}):
        assert ASTSource(add_kernel, SIGNATURE, constants).constants == {(4,): 64}
    source = ASTSource(add_kernel, {"n": "i32", **SIGNATURE}, {"BLOCK": 64})
    assert list(source.signature) == add_kernel.arg_names and source.ext == "ttir"
    assert source.hash() != ASTSource(add_kernel, SIGNATURE, {"BLOCK": 32}).hash()
    with pytest.raises(ValueError, match="names `z`; its parameters are x_ptr"):
        ASTSource(add_kernel, {"z": "i32"})


def test_compile_and_launch():
    x, y, out = arrays()
    kernel = compiled(
        num_warps=2, num_stages=1, debug=True, sanitize_overflow=False, no_such_option=1
    )
    kernel[(2, 1, 1)](x, y, out, 100, 64)
    assert np.array_equal(out, x + y)
    assert kernel.metadata.num_warps == 2 and kernel.src.fn is add_kernel


def test_a_file_of_ttir_replaces_the_kernels(tmp_path):
    text = compiled().asm["ttir"]
    assert "arith.addf" in text
    path = tmp_path / "mine.ttir"
    path.write_text(text.replace("arith.addf", "arith.mulf"))
    kernel = compiled(ir_override=str(path))
    x, y, out = arrays()
    kernel[(2, 1, 1)](x, y, out, 100, 64)
    assert np.array_equal(out, x * y)
    other = path.rename(tmp_path / "mine.llir")
    with pytest.raises(triton.CompilationError, match=r"on target `cpu` .* by a file \*\.ttir"):
        compiled(ir_override=str(other))


def test_low_level_launch_convention():
    x, y, out = arrays()
    kernel = compiled()
    kernel._init_handles()
    metadata = kernel.launch_metadata((2, 1, 1), 0, x, y, out, 100, 64)
    kernel.run(
        2,
        1,
        1,
        0,
        kernel.function,
        kernel.packed_metadata,
        metadata,
        None,
        None,
        x,
        y,
        out,
        100,
        64,
    )
    assert np.array_equal(out, x + y)


def test_warmup_gives_a_kernel_that_launches():
    x, y, out = arrays()
    kernel = add_kernel.warmup(x, y, out, 100, BLOCK=64, grid=(1,))
    assert (out == -1).all()
    kernel[(2, 1, 1)](x, y, out, 100, 64)
    assert np.array_equal(out, x + y)
    with pytest.raises(
        TypeError,
        match="add_kernel takes all its 5 arguments, constants included, or its 4 that are not "
        "constants; 3 were given",
    ):
        kernel[(2, 1, 1)](x, y, out)


@triton.jit
def scaled_kernel(SCALE: tl.constexpr, x_ptr, OFFSET: tl.constexpr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * SCALE + OFFSET)


@pytest.mark.parametrize("count", [2, 4, 5])
def test_a_compiled_kernel_is_launched_without_its_constants(count):
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, dtype=np.float32)
    kernel = scaled_kernel.warmup(3, x, 5, out, 64, grid=(1,))
    every = {2: (x, out), 4: (3, x, 5, out), 5: (3, x, 5, out, 64)}
    kernel[(1, 1, 1)](*every[count])
    assert np.array_equal(out, 3 * x + 5)


def test_warmup_with_torch_dtypes():
    torch = pytest.importorskip("torch")
    kernel = add_kernel.warmup(
        torch.float16, torch.float16, torch.float16, 100, BLOCK=64, grid=(1,)
    )
    assert kernel.src.signature["x_ptr"] == "*fp16"


def test_stages():
    kernel = compiled()
    assert {"ttir", "llir", "asm", "so"} <= set(kernel.asm)
    assert "tt.func public @add_kernel(" in kernel.asm["ttir"]
    assert "{tt.divisibility = 16 : i32}" in kernel.asm["ttir"]
    assert "fadd" in kernel.asm["llir"]
    assert kernel.asm["so"][:4] == b"\x7fELF" and kernel.kernel == kernel.asm["so"]
    assert kernel.asm["launcher.so"][:4] == b"\x7fELF"
    assert "ptx" not in kernel.asm
    with pytest.raises(KeyError):
        kernel.asm["ptx"]


def test_figures():
    kernel = compiled()
    assert kernel.n_regs > 0 and kernel.n_spills >= 0 and kernel.n_max_threads > 0
    x = np.arange(64, dtype=np.float32)
    reduction = sum_kernel.warmup(x, x, BLOCK=64, grid=(1,))
    assert reduction.metadata.shared >= 1


def test_occupancy_arithmetic_gives_a_program():
    properties = triton.runtime.driver.active.utils.get_device_properties(None)
    x = np.arange(64, dtype=np.float32)
    kernel = sum_kernel.warmup(x, x, BLOCK=64, grid=(1,), num_warps=8)
    occupancy = properties["max_num_regs"] // (kernel.n_regs * properties["warpSize"] * 8)
    occupancy = min(occupancy, properties["max_shared_mem"] // kernel.metadata.shared)
    assert properties["multiprocessor_count"] * occupancy >= 1


def test_metadata():
    kernel = compiled()
    metadata = kernel.metadata
    assert metadata.name == kernel.name == "add_kernel" and metadata.hash == kernel.hash
    int(kernel.hash, 16)
    assert metadata.target.backend == "cpu" and metadata.triton_version == triton.__version__
    assert metadata.written == ("out_ptr",)
    assert metadata.num_ctas == 1 and hasattr(metadata, "_asdict")


def test_folder_view(own_cache):
    from triton.runtime.cache import _base32

    kernel = compiled()
    folder = own_cache / _base32(kernel.hash)
    files = set(os.listdir(folder))
    assert {"add_kernel.so", "add_kernel.json"} <= files
    assert all(os.path.isfile(folder / name) for name in files)
    assert kernel.metadata_group["add_kernel.so"] == str(folder / "add_kernel.so")
    assert (folder / "add_kernel.so").read_bytes() == kernel.asm["so"]


def test_second_compilation_reads_the_cache(own_cache):
    assert compiled().hash == compiled().hash
    listener_calls = []
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.listener = lambda **info: listener_calls.append(info["cache_hit"])
        compiled()
        triton.knobs.compilation.always_compile = True
        compiled()
    assert listener_calls == [True, False]


def test_compiling_always_still_fills_the_cache(own_cache):
    hits = []
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.listener = lambda **info: hits.append(info["cache_hit"])
        triton.knobs.compilation.always_compile = True
        compiled()
        triton.knobs.compilation.always_compile = False
        compiled()
    assert hits == [False, True]


def test_listeners_are_told_how_long_each_stage_took(own_cache):
    calls = []
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.listener = lambda **info: calls.append(info)
        kernel = compiled()
        compiled()
    first, second = (call["times"] for call in calls)
    assert isinstance(first, triton.knobs.CompileTimes) and first.ir_initialization > 0
    assert "so" in dict(first.lowering_stages) and all(
        took > 0 for _, took in first.lowering_stages
    )
    assert first.total == first.ir_initialization + first.total_lowering + first.store_results
    assert second.lowering_stages == [] and 0 < second.total == second.ir_initialization
    assert calls[0]["metadata_group"] == kernel.metadata_group
    assert calls[0]["metadata"]["hash"] == kernel.hash and calls[0]["src"] is kernel.src


def test_a_cache_folder_that_cannot_be_written(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(blocked / "cache"))
    x, y, out = arrays()
    with pytest.warns(UserWarning, match="could not write add_kernel to"):
        kernel = compiled(num_warps=16)
    kernel[(2,)](x, y, out, 100, 64)
    assert np.array_equal(out, x + y)


def test_kernels_travel_as_torch_sends_them():
    kernel = compiled()
    kernel._init_handles()
    state = {
        **kernel.__dict__,
        "metadata": kernel.metadata._asdict(),
        "packed_metadata": kernel.packed_metadata,
        "module": None,
        "function": None,
        "run": None,
        "src": None,
    }
    state = pickle.loads(pickle.dumps(state))
    twin = CompiledKernel.__new__(CompiledKernel)
    twin.__dict__.update({**state, "metadata": kernel.metadata, "src": kernel.src})
    twin._init_handles()
    x, y, out = arrays()
    twin.run(2, 1, 1, 0, twin.function, twin.packed_metadata, None, None, None, x, y, out, 100, 64)
    assert np.array_equal(out, x + y)
    assert twin.asm["so"] == kernel.asm["so"] and twin.n_regs == kernel.n_regs


def test_compile_from_a_file_of_ir(tmp_path):
    path = tmp_path / "k.ttir"
    path.write_text(compiled().asm["ttir"])
    kernel = triton.compile(str(path), target=TARGET)
    assert kernel.name == "add_kernel" and kernel.asm["so"][:4] == b"\x7fELF"
    other = tmp_path / "k.c"
    other.write_text("")
    with pytest.raises(ValueError, match="compiling from .c is not supported; expected .ttir"):
        triton.compile(str(other), target=TARGET)


def test_a_kernel_tells_when_it_is_unloaded():
    told = []
    kernel = compiled()
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.kernel_unload_hook.add(lambda *info: told.append(info[2]))
        kernel.__del__()  # was never loaded
        kernel._init_handles()
        kernel.__del__()
        assert told == ["add_kernel"] and kernel.module is None and kernel.function is None
        kernel._init_handles()  # again
        del kernel
    assert told == ["add_kernel"] * 2


def test_a_kernel_in_the_making_is_kept_as_others_are():
    class Later:
        def __init__(self):
            self.work = []

        def submit(self, make):
            future = Future()
            self.work.append(lambda: future.set_result(make()))
            return future

    from concurrent.futures import Future

    @triton.jit
    def put(out_ptr, VALUE: tl.constexpr):
        tl.store(out_ptr, VALUE)

    out = np.zeros(1, np.float32)
    pool = Later()
    with triton.AsyncCompileMode(pool):
        for value in (3, 4, 3, 4):
            put.warmup(out, value, grid=(1,))
        assert len(pool.work) == len(put.device_caches["cpu"][0]) == 2
        pool.work[0]()
        put[(1,)](out, 3)
        assert out[0] == 3
        pool.work[1]()
    assert all(isinstance(kept, CompiledKernel) for kept in put.device_caches["cpu"][0].values())


def test_compiling_on_other_threads():
    from concurrent.futures import ThreadPoolExecutor

    x, y, out = arrays()
    with ThreadPoolExecutor(2) as pool, triton.AsyncCompileMode(pool):
        kernels = [add_kernel.warmup(x, y, out, 100, BLOCK=block, grid=(1,)) for block in (8, 16)]
    assert [kernel.result().name for kernel in kernels] == ["add_kernel"] * 2
    add_kernel[(13,)](x, y, out, 100, BLOCK=8)
    assert np.array_equal(out, x + y)


def test_bad_targets_and_names():
    with pytest.raises(TypeError, match="target must be a GPUTarget"):
        triton.compile(ASTSource(add_kernel, SIGNATURE, {"BLOCK": 64}), target="cpu")

    @triton.jit(repr=lambda specialization: "not a name")
    def f(x):
        pass

    with pytest.raises(ValueError, match="kernel name 'not a name' is not an identifier"):
        triton.compile(ASTSource(f, {"x": "i32"}), target=TARGET)
