"""Mistakes in Gluon kernels: each is reported with its code at the line that makes it."""
# SPDX-License-Identifier: MIT

import importlib.util
import textwrap

import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon._runtime import GluonASTSource

HEADER = """
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma, warpgroup_mma_wait

FLAT = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
WIDE = gl.constexpr(gl.BlockedLayout([4], [32], [4], [0]))
ROWS = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
LINES = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))
TABLE = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
PANELS = gl.constexpr(gl.NVMMASharedLayout(128, 16, 2))
MMA = gl.constexpr(gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8]))
WARP_GROUP = gl.constexpr(gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]))


@gluon.jit
def nothing():
    pass


@gluon.jit
def nested():
    gl.warp_specialize([(nothing, ()), (nothing, ())], [4])


@gluon.jit
def kernel(x):
    tile = gl.arange(0, 256, FLAT)
    table = gl.zeros([32, 32], gl.float32, ROWS)
"""

# Of each code: the lines of the kernel, whose last one is at fault.
CASES = {
    "auto-layout-conflict": """
        open = gl.arange(0, 256, gl.AutoLayout())
        one = open + tile
        two = open + gl.arange(0, 256, WIDE)
        gl.store(x + one, one)
        gl.store(x + two, two)""",
    "auto-layout-open": "gl.store(x + gl.arange(0, 256, gl.AutoLayout()), 1)",
    "buffer-expected": "async_copy.async_load(tile, x + tile)",
    "barrier-expected": "mbarrier.wait(gl.allocate_shared_memory(gl.float32, [1], LINES), 0)",
    "barrier-count": "mbarrier.allocate_mbarrier(batch=0)",
    "scalar-expected": "mbarrier.wait(mbarrier.allocate_mbarrier(), tile)",
    "op-rule": "mbarrier.init(mbarrier.allocate_mbarrier(), count=0)",
    "copy-shapes": "async_copy.async_load(gl.allocate_shared_memory(gl.float32, [128], LINES), x + tile)",
    "outstanding-groups": "async_copy.wait_group(-1)",
    "descriptor-expected": "tma.async_store(x, [0, 0], gl.allocate_shared_memory(gl.float16, [64, 64], PANELS))",
    "descriptor-layout": "tma.make_tensor_descriptor(x, [64, 64], [64, 1], [16, 16], TABLE)",
    "accumulator-layout": "mma_v2(table, table, table)",
    "operand-layout": """
        acc = gl.zeros([64, 64], gl.float32, MMA)
        half = gl.zeros([64, 64], gl.float16, ROWS)
        mma_v2(half, half, acc)""",
    "wait-without-deps": "warpgroup_mma_wait(0)",
    "wait-dependency": "warpgroup_mma_wait(0, deps=[x])",
    "role-expected": "gl.warp_specialize([nothing], [])",
    "role-numbers": "gl.warp_specialize([(nothing, ()), (nothing, ())], [4, 4])",
    "role-warps": "gl.warp_specialize([(nothing, ()), (nothing, ())], [3])",
    "nested-roles": "gl.warp_specialize([(nothing, ()), (nested, ())], [4])",
    "layout-invalid": "gl.BlockedLayout([1], [32], [4], [1])",
    "layout-unfit": "gl.arange(0, 256, gl.BlockedLayout([1], [32], [8], [0]))",
    "layout-mismatch": "tile + gl.arange(0, 256, WIDE)",
    "expand-layout": "gl.expand_dims(tile, 1)",
    "split-layout": "gl.split(gl.zeros([128, 2], gl.float32, gl.BlockedLayout([1, 1], [16, 2], [4, 1], [1, 0])))",
    "conversion-not-trivial": "gl.convert_layout(tile, WIDE, assert_trivial=True)",
    "layout-known": "gl.set_auto_layout(tile, WIDE)",
    "dot-operand-layout": "gl.dot_fma(table, table, table)",
    "dot-fma-layout": """
        acc = gl.zeros([64, 64], gl.float32, MMA)
        gl.dot_fma(acc, acc, acc)""",
    "dot-fma-types": """
        left = gl.zeros([32, 32], gl.float16, gl.DotOperandLayout(0, ROWS, 0))
        right = gl.zeros([32, 32], gl.float32, gl.DotOperandLayout(1, ROWS, 0))
        gl.dot_fma(left, right, table)""",
    "type-expected": "gl.bank_conflicts(3, 4)",
    "type-layout": """
        kind = gl.distributed_type(gl.float32, [32, 32], FLAT)
        buffer = gl.shared_memory_descriptor_type(gl.float32, [32, 32], TABLE, [32, 32])
        gl.bank_conflicts(kind, buffer)""",
    "types-differ": """
        kind = gl.distributed_type(gl.float16, [32, 32], ROWS)
        buffer = gl.shared_memory_descriptor_type(gl.float32, [32, 32], TABLE, [32, 32])
        gl.bank_conflicts(kind, buffer)""",
    "tile-expected": "gl.convert_layout(x, WIDE)",
    "shared-operand": "gl.allocate_shared_memory(gl.float32, [256], LINES) + 1",
}
CLUSTERS = {
    "mbarrier-of-cluster": "mbarrier.allocate_mbarrier()",
    "barrier-of-cluster": "gl.barrier(cluster=True)",
    "multicast-copy": """
        panel = gl.allocate_shared_memory(gl.float16, [64, 64], PANELS)
        ready = gl.allocate_shared_memory(gl.int64, [1], LINES)
        source = tma.make_tensor_descriptor(x, [64, 64], [64, 1], [64, 64], PANELS)
        tma.async_load(source, [0, 0], ready, panel, multicast=True)""",
}


def fault_of(path, text, kernel="kernel", **options):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(triton.CompilationError) as caught:
        triton.compile(
            GluonASTSource(getattr(module, kernel), {"x": "*fp32"}),
            target=GPUTarget("cuda", 90, 32),
            options=options,
        )
    return caught.value


def check(tmp_path, code, lines, **options):
    text = HEADER + textwrap.indent(textwrap.dedent(lines).strip(), "    ") + "\n"
    error = fault_of(tmp_path / "kernels.py", text, **options)
    first = error.diagnostics[0]
    assert first.code == code, str(error)
    lines = text.splitlines()
    at_fault = [number for number, line in enumerate(lines, 1) if line.strip()][-1]
    # One that a whole kernel shows, and one in a called function, are reported where they begin.
    assert first.line == at_fault or code in ("auto-layout-conflict", "nested-roles"), str(error)


@pytest.mark.parametrize("code", CASES)
def test_a_mistake_is_reported_at_its_line(tmp_path, code):
    check(tmp_path, code, CASES[code])


@pytest.mark.parametrize("code", CLUSTERS)
def test_what_clusters_do_not_have_yet_is_said(tmp_path, code):
    check(tmp_path, code, CLUSTERS[code], num_ctas=2)


def test_gluon_in_a_kernel_of_triton(tmp_path):
    text = HEADER + "    pass\n\n\n@triton.jit\ndef plain(x):\n    gl.num_warps()\n"
    path = tmp_path / "kernels.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(triton.CompilationError) as caught:
        source = triton.compiler.ASTSource(module.plain, {"x": "*fp32"})
        triton.compile(source, target=GPUTarget("cuda", 90, 32))
    assert caught.value.diagnostics[0].code == "gluon-only"
