"""Gluon's layout classes: rules of their fields, attributes, drawings, and the way through a kernel and back."""
# SPDX-License-Identifier: MIT

import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language import amd
from triton.experimental.gluon.language._layouts import bases_per_dim, warps_per_cta

BLOCKED = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
MMA2 = gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8])
WGMMA = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
LINEAR = gl.DistributedLinearLayout(
    [[0, 1]], [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], [[8, 0], [16, 0]], [], [32, 8]
)
MFMA = amd.AMDMFMALayout(3, [32, 32, 8], True, [4, 1])
WMMA = amd.AMDWMMALayout(2, True, [[0, 1], [1, 0]])

DISTRIBUTED = [
    BLOCKED,
    gl.SliceLayout(0, BLOCKED),
    MMA2,
    WGMMA,
    LINEAR,
    gl.DotOperandLayout(0, MMA2, 2),
    MFMA,
    WMMA,
]
SHARED = [
    gl.SwizzledSharedLayout(8, 1, 8, [1, 0]),
    gl.NVMMASharedLayout(128, 16, 2),
    gl.NVMMASharedLayout(64, 8, 3, True),
    gl.SharedLinearLayout([[0, 1], [0, 2], [1, 0]]),
    gl.PaddedSharedLayout.with_identity_for([[32, 4]], [16, 64], [1, 0]),
]
OPEN = [gl.AutoLayout(), gl.CoalescedLayout()]


@gluon.jit
def compares(out, layout: gl.constexpr, same: gl.constexpr):
    gl.static_assert(layout == same)
    gl.store(out, 1)


@pytest.mark.parametrize("layout", [*DISTRIBUTED, *SHARED, *OPEN], ids=repr)
def test_a_layout_is_itself_in_a_kernel(layout):
    constants = {"layout": layout, "same": layout}
    triton.compile(GluonASTSource(compares, {"out": "*i32"}, constants), GPUTarget("cuda", 90, 32))


@gluon.jit
def hands_over(out, layout: gl.constexpr):
    received(layout)
    gl.store(out, 1)


SEEN = []


@triton.constexpr_function
def received(layout):
    SEEN.append(layout)


@pytest.mark.parametrize("layout", [*DISTRIBUTED, *SHARED], ids=repr)
def test_python_gets_the_layout_back(layout):
    SEEN.clear()
    triton.compile(
        GluonASTSource(hands_over, {"out": "*i32"}, {"layout": layout}),
        GPUTarget("cuda", 90, 32),
        options={"always_compile": True},
    )
    if SEEN:  # not from a cache
        assert SEEN == [layout] and type(SEEN[0]) is type(layout)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: gl.SliceLayout(2, BLOCKED), "outside"),
        (lambda: gl.SliceLayout(0, 3), "must be a layout"),
        (lambda: gl.DotOperandLayout(2, MMA2, 2), "0 or 1"),
        (lambda: gl.NVMMADistributedLayout([2], [4, 1], [16, 8]), "major, minor"),
        (lambda: gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 16]), "instrShape"),
        (lambda: gl.SwizzledSharedLayout(3, 1, 1, [0]), "powers of two"),
        (lambda: gl.NVMMASharedLayout(48, 16), "NVMMASharedLayout"),
        (lambda: gl.SharedLinearLayout([]), "must not be empty"),
        (lambda: gl.SharedLinearLayout([[0, 1], [1]]), "SharedLinearLayout"),
        (lambda: gl.PaddedSharedLayout([[3, 1]], [[1], [2]], [], [4]), "PaddedSharedLayout"),
        (lambda: gl.DistributedLinearLayout([[1]], [], [], [], [2, 2]), "basis of 1"),
        (lambda: amd.AMDMFMALayout(3, [32, 32], True, [3, 1]), "AMDMFMALayout"),
    ],
)
def test_broken_rules_are_errors(make, reason):
    with pytest.raises(ValueError, match=reason):
        make()


@pytest.mark.parametrize(
    ("layout", "rank"),
    [(BLOCKED, 2), (gl.SliceLayout(0, BLOCKED), 1), (WGMMA, 2), (LINEAR, 2), (MFMA, 2), (WMMA, 2)],
)
def test_ranks(layout, rank):
    assert layout.rank == rank


def test_an_open_layout_has_no_rank():
    with pytest.raises(ValueError, match="no rank"):
        gl.AutoLayout().rank  # noqa: B018


@pytest.mark.parametrize(
    ("shape", "dtype", "transposed", "width"),
    [
        ([64, 64], gl.float16, False, 128),
        ([64, 32], gl.float16, False, 64),
        ([64, 16], gl.float16, False, 32),
        ([64, 8], gl.float16, False, 0),
        ([4, 64], gl.float16, False, 0),
        ([32, 128], gl.float16, True, 64),
        ([128, 128], gl.int8, False, 128),
    ],
)
def test_the_default_swizzle_fills_rows(shape, dtype, transposed, width):
    layout = gl.NVMMASharedLayout.get_default_for(shape, dtype, transposed)
    assert (layout.swizzle_byte_width, layout.rank, layout.transposed) == (width, 2, transposed)


@gluon.jit
def default_in_a_kernel(out):
    layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    gl.static_assert(layout.swizzle_byte_width == 128)
    padded: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[32, 4]], [16, 64], [1, 0])
    gl.static_assert(padded.shape == [16, 64])
    gl.store(out, 1)


def test_defaults_in_a_kernel():
    triton.compile(GluonASTSource(default_in_a_kernel, {"out": "*i32"}), GPUTarget("cuda", 90, 32))


@gluon.jit
def as_bases(out, layout: gl.constexpr):
    linear: gl.constexpr = gl.to_linear_layout(layout, [32, 8])
    gl.static_assert(linear == gl.to_linear_layout(linear, [32, 8]))
    gl.static_assert(linear.shape == [32, 8])
    gl.store(out, 1)


@pytest.mark.parametrize(
    "layout", [BLOCKED, LINEAR, gl.SwizzledSharedLayout(1, 1, 1, [1, 0])], ids=repr
)
def test_layouts_as_bases(layout):
    triton.compile(
        GluonASTSource(as_bases, {"out": "*i32"}, {"layout": layout}), GPUTarget("cuda", 90, 32)
    )


def test_a_drawing_names_the_thread_of_each_element():
    layout = gl.BlockedLayout([1], [4], [1], [0])
    assert layout.format_tensor_view([4]).split() == ["[T0:0,", "T1:0,", "T2:0,", "T3:0]"]


@pytest.mark.parametrize("layout", [*OPEN, SHARED[-1]], ids=repr)
def test_some_layouts_have_no_drawing(layout):
    with pytest.raises(ValueError, match="cannot be visualized"):
        layout.format_tensor_view([16, 64])


def test_a_shape_of_another_rank_has_no_drawing():
    with pytest.raises(ValueError, match="2 dimensions, the shape 1"):
        BLOCKED.format_hardware_view([16])


def test_bases_by_dimension():
    assert bases_per_dim([[1, 0], [0, 1], [0, 2]], 2) == [2, 4]
    assert bases_per_dim([[1, 0], [0, 0]], 2, skip_broadcast=False) == [4, 1]
    assert warps_per_cta(LINEAR, [32, 8]) == [4, 1] and warps_per_cta(
        gl.SliceLayout(0, BLOCKED), [8]
    ) == [4, 1]


def test_bases_of_clusters():
    from triton._C.libtriton.gluon_ir import make_cga_layout

    assert make_cga_layout([2, 2], [2, 1], [1, 0]) == [[0, 0], [1, 0]]


@gluon.jit
def counts_conflicts(out, tile: gl.constexpr, buffer: gl.constexpr, expected: gl.constexpr):
    gl.static_assert(gl.bank_conflicts(tile, buffer) == expected)
    here: gl.constexpr = gl.distributed_type(tile.element_ty, tile.shape, tile.layout)
    gl.static_assert(gl.bank_conflicts(here, buffer) == expected)
    gl.store(out, 1)


@pytest.mark.parametrize(("order", "expected"), [([1, 0], 0), ([0, 1], 31)])
def test_bank_conflicts_of_types(order, expected):
    """Lanes that read down a column of 32 words each meet in one bank."""
    layout = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
    shared = gl.SwizzledSharedLayout(1, 1, 1, order)
    constants = {
        "tile": gl.distributed_type(gl.float32, [32, 32], layout),
        "buffer": gl.shared_memory_descriptor_type(gl.float32, [32, 32], shared, [32, 32]),
        "expected": expected,
    }
    triton.compile(
        GluonASTSource(counts_conflicts, {"out": "*i32"}, constants), GPUTarget("cuda", 90, 32)
    )


def test_types_of_two_shapes_have_no_conflicts():
    layout = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
    shared = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    constants = {
        "tile": gl.distributed_type(gl.float32, [32, 32], layout),
        "buffer": gl.shared_memory_descriptor_type(gl.float32, [32, 64], shared, [32, 64]),
        "expected": 0,
    }
    with pytest.raises(triton.CompilationError, match="both must agree"):
        triton.compile(
            GluonASTSource(counts_conflicts, {"out": "*i32"}, constants), GPUTarget("cuda", 90, 32)
        )
