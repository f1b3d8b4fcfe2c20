"""Programs whose warps do different work, as PTX: barriers by region, registers, threads of a launch."""
# SPDX-License-Identifier: MIT

import re
import subprocess

import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.assembler import find_assembler

HEAD = """
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, "ttg.total-num-warps" = 12 : i32,
                   ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
"""

BARRIERS = "!ttg.memdesc<2x1xi64, #flat, #smem, mutable>"
BARRIER = "!ttg.memdesc<1xi64, #flat, #smem, mutable>"
LEFT = "!ttg.memdesc<128x32xf16, #rows, #smem, mutable>"
RIGHT = "!ttg.memdesc<32x32xf16, #rows, #smem, mutable>"
SUM = "tensor<128x32xf32, #mma>"


def pointers(base, rows, element, layout):
    """Pointers %pBASE to row-major elements at %BASE."""
    column = f"#ttg.slice<{{dim = 1, parent = {layout}}}>"
    row = f"#ttg.slice<{{dim = 0, parent = {layout}}}>"
    tile = f"{rows}x32x"
    return f"""
      %i{base} = tt.make_range {{start = 0 : i32, end = {rows} : i32}} : tensor<{rows}xi32, {column}>
      %j{base} = tt.make_range {{start = 0 : i32, end = 32 : i32}} : tensor<32xi32, {row}>
      %ie{base} = tt.expand_dims %i{base} {{axis = 1 : i32}} : tensor<{rows}xi32, {column}> -> tensor<{rows}x1xi32, {layout}>
      %je{base} = tt.expand_dims %j{base} {{axis = 0 : i32}} : tensor<32xi32, {row}> -> tensor<1x32xi32, {layout}>
      %pitch{base} = arith.constant dense<32> : tensor<{rows}x1xi32, {layout}>
      %start{base} = arith.muli %ie{base}, %pitch{base} : tensor<{rows}x1xi32, {layout}>
      %starts{base} = tt.broadcast %start{base} : tensor<{rows}x1xi32, {layout}> -> tensor<{tile}i32, {layout}>
      %columns{base} = tt.broadcast %je{base} : tensor<1x32xi32, {layout}> -> tensor<{tile}i32, {layout}>
      %at{base} = arith.addi %starts{base}, %columns{base} : tensor<{tile}i32, {layout}>
      %base{base} = tt.splat %{base} : !tt.ptr<{element}> -> tensor<{tile}!tt.ptr<{element}>, {layout}>
      %p{base} = tt.addptr %base{base}, %at{base} : tensor<{tile}!tt.ptr<{element}>, {layout}>, tensor<{tile}i32, {layout}>"""


STAGE = f"""
      %slot = arith.remui %i, %c2 : i32
      %round = arith.divui %i, %c2 : i32
      %phase = arith.andi %round, %c1 : i32
      %f = ttg.memdesc_index %full[%slot] : {BARRIERS} -> {BARRIER}
      %e = ttg.memdesc_index %empty[%slot] : {BARRIERS} -> {BARRIER}
      %a = ttg.memdesc_index %left[%slot] : !ttg.memdesc<2x128x32xf16, #rows, #smem, mutable> -> {LEFT}
      %b = ttg.memdesc_index %right[%slot] : !ttg.memdesc<2x32x32xf16, #rows, #smem, mutable> -> {RIGHT}"""

# The default region of two warp groups adds dots of tiles that a partition of one group copies.
DOTS = f"""{HEAD}
tt.func public @dots(%x: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<f16> {{tt.divisibility = 16 : i32}},
                     %o: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %n: i32) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c1024 = arith.constant 1024 : i32
  %c4096 = arith.constant 4096 : i32
  %left = ttg.local_alloc : () -> !ttg.memdesc<2x128x32xf16, #rows, #smem, mutable>
  %right = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #rows, #smem, mutable>
  %full = ttg.local_alloc : () -> {BARRIERS}
  %empty = ttg.local_alloc : () -> {BARRIERS}
  ttng.init_barrier %full, 128 {{ofThreads}} : {BARRIERS}
  ttng.init_barrier %empty, 8 {{ofThreads}} : {BARRIERS}
  ttg.warp_specialize attributes {{actualRegisters = array<i32: 232, 40>}} default {{
    %zero = arith.constant dense<0.0> : {SUM}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> ({SUM}) : i32 {{{STAGE}
      ttng.wait_barrier %f, %phase : {BARRIER}
      %d = ttng.warp_group_dot %a, %b, %acc {{inputPrecision = 0 : i32, isAsync = true}} : {LEFT} * {RIGHT} -> {SUM}
      %w = ttng.warp_group_dot_wait %d {{pendings = 0 : i32}} : {SUM}
      ttng.arrive_barrier %e, 1 {{byWarp}} : {BARRIER}
      scf.yield %w : {SUM}
    }}
    ttg.barrier local{pointers("o", 128, "f32", "#mma")}
    tt.store %po, %r : tensor<128x32x!tt.ptr<f32>, #mma>
    ttg.warp_yield
  }} partition0 num_warps(4) {{
    scf.for %i = %c0 to %n step %c1 : i32 {{{STAGE}
      %firstX = arith.muli %i, %c4096 : i32
      %firstY = arith.muli %i, %c1024 : i32
      %nextX = tt.addptr %x, %firstX : !tt.ptr<f16>, i32
      %nextY = tt.addptr %y, %firstY : !tt.ptr<f16>, i32
      {pointers("nextX", 128, "f16", "#b")}{pointers("nextY", 32, "f16", "#b")}
      %other = arith.xori %phase, %c1 : i32
      ttng.wait_barrier %e, %other : {BARRIER}
      %t = ttg.async_copy_global_to_local %pnextX, %a : tensor<128x32x!tt.ptr<f16>, #b> -> {LEFT}
      %u = ttg.async_copy_global_to_local %pnextY, %b : tensor<32x32x!tt.ptr<f16>, #b> -> {RIGHT}
      ttng.async_copy_mbarrier_arrive %f {{noIncrement}} : {BARRIER}
    }}
    ttg.barrier local
    ttg.warp_return
  }}
  tt.return
}}
}}
"""


def compiled(tmp_path, arch=90, **options):
    path = tmp_path / "dots.ttgir"
    path.write_text(DOTS)
    return triton.compile(path, target=GPUTarget("cuda", arch, 32), options=options)


@pytest.fixture(scope="module")
def dots(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("dots"))


def instructions(ptx, pattern):
    return re.findall(rf"^\s*(?:@\S+\s+)?({pattern}[^;]*);", ptx, re.MULTILINE)


def test_a_launch_starts_the_warps_of_all_regions(dots):
    assert dots.metadata.num_warps == 12
    assert re.search(r"^\.reqntid 384\b", dots.asm["ptx"], re.MULTILINE)
    assert re.search(r"^\.minnctapersm 1\b", dots.asm["ptx"], re.MULTILINE)


def test_each_region_has_a_barrier_of_its_threads(dots):
    found = instructions(dots.asm["ptx"], r"bar(?:rier)?\.(?:cta\.)?sync")
    by_number = [re.sub(r".*?sync(?:\.aligned)?\s+", "", text) for text in found]
    assert sorted(set(by_number)) == ["0", "1, 256", "2, 128"], found


def test_arrivals_at_mbarriers(dots):
    ptx = dots.asm["ptx"]
    assert len(instructions(ptx, r"cp\.async\.cg\.shared\.global")) == 4 + 1
    assert len(instructions(ptx, r"cp\.async\.mbarrier\.arrive\.noinc\.shared::cta\.b64")) == 1
    (arrival,) = re.findall(r".*mbarrier\.arrive\.shared::cta\.b64 _,.*", ptx)
    assert arrival.lstrip().startswith("@%p"), arrival
    before = ptx[: ptx.index(arrival)].splitlines()[-1]
    assert "bar.warp.sync" in before
    assert "fence" not in ptx.replace(
        "wgmma.fence", ""
    )  # no TMA, and nothing is stored for tensor cores


def test_registers_move_to_the_default_region(dots):
    assert instructions(dots.asm["ptx"], "setmaxnreg") == [
        "setmaxnreg.inc.sync.aligned.u32 \t232",
        "setmaxnreg.dec.sync.aligned.u32 \t40",
    ]


def test_a_limit_of_registers_holds_for_all_regions(tmp_path):
    ptx = compiled(tmp_path, maxnreg=128).asm["ptx"]
    assert "setmaxnreg" not in ptx and ".minnctapersm" not in ptx
    assert re.search(r"^\.maxnreg 128\b", ptx, re.MULTILINE)


def test_ptxas_keeps_the_registers(dots, tmp_path):
    """Where it ignores setmaxnreg or runs one dot after the other, it says so in a note C75xx."""
    tools = find_assembler()
    if not tools.ptxas:
        pytest.skip("there is no ptxas")
    (tmp_path / "dots.ptx").write_text(dots.asm["ptx"])
    command = [tools.ptxas, "-v", "-arch=sm_90a", "dots.ptx", "-o", "dots.cubin"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Used 168 registers" in made.stderr
    assert not re.search(r"C75\d\d|spill stores?, [1-9]", made.stderr), made.stderr


COPIES = f"""{HEAD.replace('"ttg.num-warps" = 8 : i32, "ttg.total-num-warps" = 12', '"ttg.num-warps" = 4')}
tt.func public @copies(%x: !tt.ptr<f16>HINT) {{
  %c0 = arith.constant 0 : i32
  %left = ttg.local_alloc : () -> !ttg.memdesc<2x128x32xf16, #rows, #smem, mutable>
  %a = ttg.memdesc_index %left[%c0] : !ttg.memdesc<2x128x32xf16, #rows, #smem, mutable> -> {LEFT}
  {pointers("x", 128, "f16", "#b")}
  %t = ttg.async_copy_global_to_local %px, %a : tensor<128x32x!tt.ptr<f16>, #b> -> {LEFT}
  tt.return
}}
}}
"""


@pytest.mark.parametrize(
    "hint, instruction, fences",
    [(" {tt.divisibility = 16 : i32}", "cp.async", 0), ("", "st.shared", 1)],
)
def test_what_threads_store_for_tensor_cores_is_fenced(tmp_path, hint, instruction, fences):
    """Asynchronous copies need no fence; elements whose alignment nothing says are copied through registers."""
    path = tmp_path / "copies.ttgir"
    path.write_text(COPIES.replace("HINT", hint))
    ptx = triton.compile(path, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
    assert instruction in ptx
    assert ptx.count("fence.proxy.async.shared::cta") == fences


def test_older_gpus_do_not_reassign_registers(tmp_path):
    with pytest.raises(triton.CompilationError, match="operation-unsupported"):
        compiled(tmp_path, arch=80)


def test_only_gpus_with_wgmma_reassign_registers(tmp_path):
    regions = "default {\n ttg.warp_yield } partition0 num_warps(4) {\n ttg.warp_return }\n"
    path = tmp_path / "empty.ttgir"
    path.write_text(
        f"{HEAD}tt.func public @empty() {{\nttg.warp_specialize attributes "
        f"{{actualRegisters = array<i32: 160, 64>}} {regions}tt.return\n}}\n}}"
    )
    made = triton.compile(path, target=GPUTarget("cuda", 90, 32))
    assert len(instructions(made.asm["ptx"], "setmaxnreg")) == 2
    with pytest.raises(
        triton.CompilationError, match="`warp_specialize` with `actualRegisters` is not supported"
    ):
        triton.compile(path, target=GPUTarget("cuda", 80, 32))


def test_the_plan_names_the_regions(tmp_path):
    plan = compiled(tmp_path).asm["plan"]
    assert "kernel dots, 12 warps\n  default: warps 0 to 7, 232 registers\n" in plan
    assert "\n  partition 0: warps 8 to 11, 40 registers\n" in plan
