"""Launching: argument kinds, binding, grids, options, and the texts of errors."""
# SPDX-License-Identifier: MIT

import platform
import re
import runpy

import numpy as np
import pytest
import triton
import triton.language as tl
from _vectors import add_kernel, arrays


@triton.jit
def where_kernel(out_ptr, size_x, size_y):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    tl.store(out_ptr + (z * size_y + y) * size_x + x, x + 10 * y + 100 * z)


@triton.jit
def scalars_kernel(out_ptr, a, b, flag, nothing, one):
    if nothing is None:
        tl.store(out_ptr, a)
        tl.store(out_ptr + 1, b)
        tl.store(out_ptr + 2, flag)
        tl.store(out_ptr + 3, one)


def test_unaligned_and_offset_arrays():
    x, y, out = arrays()
    for start in (0, 1, 3):
        out[:] = -1
        add_kernel[(2,)](x[start:], y[start:], out[start:], 100 - start)
        assert np.array_equal(out[start:], (x + y)[start:])
        assert (out[:start] == -1).all()


def test_keywords_and_defaults():
    x, y, out = arrays()
    add_kernel[(4,)](n=100, out_ptr=out, y_ptr=y, x_ptr=x, BLOCK=32)
    assert np.array_equal(out, x + y)


@pytest.mark.parametrize("one", [1, 7])
def test_scalar_kinds(one):
    out = np.zeros(4, np.float64)
    scalars_kernel[(1,)](out, 2**40, 0.5, True, None, one)
    assert out.tolist() == [2.0**40, 0.5, 1.0, one]
    scalars_kernel[(1,)](out, -3, 1.5, False, None, one)
    assert out.tolist() == [-3.0, 1.5, 0.0, one]


def test_numpy_scalars():
    out = np.zeros(4, np.float64)
    scalars_kernel[(1,)](out, np.int64(5), np.float32(0.25), np.bool_(True), None, np.int32(16))
    assert out.tolist() == [5, 0.25, 1, 16]


def test_annotated_scalars_have_their_type():
    @triton.jit
    def f(out_ptr, wide: tl.int64, single: "fp32"):  # noqa: F821
        tl.store(out_ptr, wide * 4)
        tl.store(out_ptr + 1, single)

    out = np.zeros(2, np.float64)
    kernel = f[(1,)](out, 2**30, 3)
    assert out.tolist() == [2.0**32, 3.0]
    assert list(kernel.src.signature.values()) == ["*fp64", "i64", "fp32"]


@pytest.mark.parametrize(
    "grid",
    [
        (3,),
        [3],
        (3, 1),
        (3, 1, 1),
        (np.int64(3),),
        lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),),
    ],
)
def test_grid_forms(grid):
    x, y, out = arrays(150)
    add_kernel[grid](x, y, out, 150)
    assert np.array_equal(out, x + y)


def test_three_dimensions():
    out = np.full((2, 3, 4), -1, np.int32)
    where_kernel[(4, 3, 2)](out, 4, 3)
    z, y, x = np.indices(out.shape)
    assert np.array_equal(out, x + 10 * y + 100 * z)


@pytest.mark.parametrize("grid", [(0,), (5, 0), lambda meta: (0,)])
def test_an_empty_grid_launches_nothing(grid):
    x, y, out = arrays()
    add_kernel[grid](x, y, out, 100)
    assert (out == -1).all()


BAD_GRIDS = [
    (4, TypeError, "grid must be a tuple or list of 1 to 3 integers, got int 4"),
    ((), ValueError, "grid must have 1 to 3 dimensions, got 0"),
    ((1, 1, 1, 1), ValueError, "grid must have 1 to 3 dimensions, got 4"),
    ((1.5,), TypeError, "grid dimension 0 must be an integer, got float 1.5"),
    (("2",), TypeError, "grid dimension 0 must be an integer, got str '2'"),
    ((1, -1), ValueError, "grid dimension 1 is -1; it must be between 0 and 4294967295"),
    ((2**32,), ValueError, "grid dimension 0 is 4294967296"),
    (lambda meta: 3, TypeError, "got int 3"),
    (None, TypeError, "got NoneType None"),
]


@pytest.mark.parametrize(("grid", "error", "text"), BAD_GRIDS)
@pytest.mark.parametrize("warm", [False, True])
def test_bad_grids(grid, error, text, warm):
    x, y, out = arrays()
    if warm:
        add_kernel[(2,)](x, y, out, 100)
        out[:] = -1
    with pytest.raises(error, match=text.replace("(", "\\(")):
        add_kernel[grid](x, y, out, 100)
    assert (out == -1).all()


@pytest.mark.parametrize("warm", [False, True])
def test_wrong_arguments(warm):
    x, y, out = arrays()
    if warm:
        add_kernel[(2,)](x, y, out, 100)
    launch = add_kernel[(2,)]
    with pytest.raises(
        TypeError, match=r"add_kernel\(\) missing 2 required positional arguments: 'out_ptr', 'n'"
    ):
        launch(x, y)
    with pytest.raises(
        TypeError, match=r"add_kernel\(\) missing 1 required positional argument: 'n'"
    ):
        launch(x, y, out)
    with pytest.raises(
        TypeError, match=r"add_kernel\(\) takes 5 positional arguments but 6 were given"
    ):
        launch(x, y, out, 100, 64, 1)
    with pytest.raises(TypeError, match=r"add_kernel\(\) got multiple values for argument 'n'"):
        launch(x, y, out, 100, n=3)
    with pytest.raises(KeyError, match="Keyword argument colour was specified but unrecognised"):
        launch(x, y, out, 100, colour=3)
    with pytest.raises(
        TypeError, match="failed to specialize argument of type: .*object.* `y_ptr`"
    ):
        launch(x, object(), out, 100)
    with pytest.raises(OverflowError, match="`n`"):
        launch(x, y, out, 2**70)
    with pytest.raises(AssertionError, match="stream option is deprecated"):
        launch(x, y, out, 100, stream=0)


def test_options_are_part_of_the_specialisation():
    x, y, out = arrays()
    first = add_kernel[(2,)](x, y, out, 100, num_warps=2)
    second = add_kernel[(2,)](x, y, out, 100, num_warps=8)
    assert (first.metadata.num_warps, second.metadata.num_warps) == (2, 8)
    with pytest.raises(AssertionError, match="num_warps must be a power of 2, got 3"):
        add_kernel[(2,)](x, y, out, 100, num_warps=3)


def _widest_register(kernel):
    return max(re.findall(r"%([xyz])mm", kernel.asm["asm"]))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names processors of this family")
def test_the_processor_of_cpu_kernels_is_an_option_and_a_variable(monkeypatch):
    x, y, out = arrays()
    monkeypatch.setenv("TRITON_CPU_ARCH", "x86-64-v2")
    kernel = triton.jit(add_kernel.fn)  # a variable is read when a kernel is launched first
    assert _widest_register(kernel[(2,)](x, y, out, 100)) == "x"
    np.testing.assert_array_equal(out, x + y)
    assert _widest_register(add_kernel.warmup(x, y, out, 100, arch="x86-64-v4", grid=(1,))) == "z"
    with pytest.raises(ValueError, match="CPU `znver` is unknown; did you mean"):
        add_kernel[(2,)](x, y, out, 100, arch="znver")


def test_specialisation_is_seen_in_signature_and_attributes():
    x, y, out = arrays()
    kernel = add_kernel[(1,)](x, y, out, 16)
    assert kernel.src.signature == {
        "x_ptr": "*fp32",
        "y_ptr": "*fp32",
        "out_ptr": "*fp32",
        "n": "i32",
        "BLOCK": "constexpr",
    }
    assert kernel.src.constants == {(4,): 64}
    assert kernel.src.attrs[(3,)] == [["tt.divisibility", 16]]
    assert add_kernel[(1,)](x, y, out, 17).src.attrs.get((3,), []) == []
    assert add_kernel[(1,)](x, y, out, 1).src.constants == {(3,): 1, (4,): 64}


def test_equal_numbers_of_other_types_do_not_share_a_kernel():
    @triton.jit
    def f(out_ptr, C: tl.constexpr):
        tl.store(out_ptr, C / 2)

    out = np.zeros(1, np.float64)
    kernels = [f[(1,)](out, value) for value in (2, 2.0, 4, 2)]
    assert kernels[0] is kernels[3]
    assert len({id(kernel) for kernel in kernels}) == 3


WIDE = """
import triton
import triton.language as tl

@triton.jit
def wide(out_ptr, {parameters}, C: tl.constexpr):
    tl.store(out_ptr, C + {total})
"""


@pytest.mark.parametrize("count", [62, 63, 100, 200])
@pytest.mark.parametrize("form", ["numbers", "arrays", "keywords"])
def test_a_kernel_of_many_parameters_is_launched_by_its_key(tmp_path, monkeypatch, count, form):
    names = [f"p{i}" for i in range(count)]
    reads = [f"tl.load({name})" for name in names] if form == "arrays" else names
    path = tmp_path / f"wide_{count}_{form}.py"
    path.write_text(WIDE.format(parameters=", ".join(names), total=" + ".join(reads)))
    wide = runpy.run_path(str(path))["wide"]
    out = np.zeros(1, np.int32)
    values = range(count)
    if form == "arrays":
        values = [np.array([value], np.int32) for value in values]

    def launch(constant):
        if form == "keywords":
            wide[(1,)](out, C=constant, **dict(zip(names, values, strict=True)))
        else:
            wide[(1,)](out, *values, constant)
        return int(out[0]) - sum(range(count))

    assert [launch(5), launch(7)] == [5, 7]
    slow = []
    monkeypatch.setattr(type(wide), "_take_stream", lambda *args: slow.append(args))
    assert [launch(5), launch(7), launch(5)] == [5, 7, 5] and not slow


def test_launch_hooks():
    x, y, out = arrays()
    events = []
    enter, leave = triton.knobs.runtime.launch_enter_hook, triton.knobs.runtime.launch_exit_hook
    first, last = (
        (lambda data: events.append(("enter", data.get()["name"]))),
        (lambda data: events.append(("exit", None))),
    )
    enter.add(first)
    leave.add(last)
    try:
        add_kernel[(2,)](x, y, out, 100)
        add_kernel[(2,)](x, y, out, 100)
    finally:
        enter.remove(first)
        leave.remove(last)
    add_kernel[(2,)](x, y, out, 100)
    assert events == [("enter", "add_kernel"), ("exit", None)] * 2
    assert np.array_equal(out, x + y)


def test_launch_metadata():
    @triton.jit(launch_metadata=lambda grid, metadata, args: {"bytes": args["n"] * 4, "grid": grid})
    def f(out_ptr, n):
        tl.store(out_ptr, n)

    out = np.zeros(1, np.int32)
    seen = []
    hook = lambda data: seen.append(data.get())  # noqa: E731
    triton.knobs.runtime.launch_enter_hook.add(hook)
    try:
        f[(1,)](out, 5)
    finally:
        triton.knobs.runtime.launch_enter_hook.remove(hook)
    assert seen[0]["bytes"] == 20 and seen[0]["grid"] == (1, 1, 1) and seen[0]["name"] == "f"


def test_kernel_names_by_repr():
    @triton.jit(
        repr=lambda specialization: (
            f"f_{specialization.constants['N']}_{specialization.signature['out_ptr'][1:]}"
        )
    )
    def f(out_ptr, N: tl.constexpr):
        tl.store(out_ptr, N)

    out = np.zeros(1, np.int32)
    kernel = f[(1,)](out, 7)
    assert kernel.name == "f_7_i32" and out[0] == 7
    assert "@f_7_i32(" in kernel.asm["ttir"]


def test_many_threads_launch_one_kernel():
    from concurrent.futures import ThreadPoolExecutor

    def one(seed):
        x = np.full(1000, seed, np.float32)
        out = np.zeros_like(x)
        for block in (64, 128, 256):
            add_kernel[(triton.cdiv(1000, block),)](x, x, out, 1000, BLOCK=block)
            if not (out == 2 * seed).all():
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(64)))


def test_launching_in_a_forked_process():
    import os

    x, y, out = arrays()
    add_kernel[(2,)](x, y, out, 100)
    child = os.fork()
    if child == 0:
        out[:] = -1
        add_kernel[(2,)](x, y, out, 100)
        os._exit(0 if np.array_equal(out, x + y) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
