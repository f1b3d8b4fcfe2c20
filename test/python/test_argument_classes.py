"""Classes of arguments: kernels are distinguished, in the process and on disk, by the code of their methods."""
# SPDX-License-Identifier: MIT

import dataclasses
import os
import re
import subprocess
import sys
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
import triton
import triton.language as tl
from triton._C import libtriton
from triton._utils import FieldTypes, get_iterable_path
from triton.runtime.binder import device_of_arguments
from triton.runtime.dependencies import class_key, classes_in

CLASSES = {
    "aggregate": "@triton.aggregate\nclass Column:\n    ptr: tl.tensor\n",
    "dataclass": "@dataclasses.dataclass\nclass Column:\n    ptr: object\n",
}
PARTS = {
    "method": "    @triton.jit\n    def load(self):\n        return tl.load(self.ptr) * {factor}\n",
    "constant": "    @triton.jit\n    def load(self):\n        return tl.load(self.ptr) * self.factor()\n\n"
    "    @triton.constexpr_function\n    def factor(self):\n        return {factor}\n",
}
# The class is in another module than the kernel, and so is its base.
SHAPES = "import dataclasses\nimport triton\nimport triton.language as tl\n\n\n"
SCRIPT = """
import numpy as np
import triton
import triton.language as tl
from shapes import Column

@triton.jit
def kernel(source, out_ptr):
    tl.store(out_ptr, source.load())

out = np.zeros(1, np.float32)
compiled = kernel[(1,)](Column(np.ones(1, np.float32)), out)
print(compiled.metadata.hash, compiled.src.hash(), out[0])
"""


def launched(folder, text):
    """(hash of the kernel, hash of the source, result) in a process of its own."""
    (folder / "shapes.py").write_text(text)
    (folder / "script.py").write_text(SCRIPT)
    environment = {"TRITON_CACHE_DIR": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, str(folder / "script.py")], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("form", CLASSES)
@pytest.mark.parametrize("part", ["method", "constant"])
def test_an_edited_method_makes_another_kernel(form, part, tmp_path):
    texts = [SHAPES + CLASSES[form] + "\n" + PARTS[part].format(factor=factor) for factor in (2, 3)]
    twice, again, thrice = (launched(tmp_path, texts[at]) for at in (0, 0, 1))
    assert twice == again and float(twice[2]) == 2
    assert float(thrice[2]) == 3
    assert twice[0] != thrice[0] and twice[1] != thrice[1]


def test_an_edited_base_makes_another_kernel(tmp_path):
    for factor in (5, 7):
        base = SHAPES + "@dataclasses.dataclass\nclass Base:\n    ptr: object\n\n"
        (tmp_path / "bases.py").write_text(base + PARTS["method"].format(factor=factor))
        text = "import dataclasses\nfrom bases import Base\n\n\n@dataclasses.dataclass\nclass Column(Base):\n    pass\n"
        assert float(launched(tmp_path, text)[2]) == factor


def test_an_edited_base_that_is_no_dataclass_makes_another_kernel(tmp_path):
    for factor in (5, 7):
        helper = f"def helper():\n    return {factor}\n\n\n"
        base = SHAPES + helper + "class Base:\n" + PARTS["constant"].format(factor="helper()")
        (tmp_path / "bases.py").write_text(base)
        text = SHAPES + "from bases import Base\n\n\n@dataclasses.dataclass\nclass Column(Base):\n    ptr: object\n"
        assert float(launched(tmp_path, text)[2]) == factor


def test_classes_in_a_class_are_told_apart():
    def make(k):
        class Inner:
            value = k

        return Inner

    def outer(*inner):
        @dataclasses.dataclass
        class Outer:
            p: Any
            first, second, third = inner

        return Outer

    one, two = make(1), make(2)
    keys = [class_key(outer(*inner)) for inner in ((one, two, one), (one, two, two), (two, one, one), (one, one, two))]
    assert len(set(keys)) == 4
    assert class_key(outer(make(1), make(2), two)) != class_key(outer(two, two, two))


def make_aggregate(k):
    @triton.aggregate
    class Op:
        p: tl.tensor

        @triton.jit
        def apply(self):
            return tl.load(self.p) + k

    return Op


def make_dataclass(k):
    @dataclasses.dataclass
    class Op:
        p: Any

        @triton.jit
        def apply(self):
            return tl.load(self.p) + k

    return Op


MAKERS = [make_aggregate, make_dataclass]


@pytest.mark.parametrize("make", MAKERS)
def test_classes_of_one_name_have_kernels_of_their_own(make):
    @triton.jit
    def kernel(op, out_ptr):
        tl.store(out_ptr, op.apply())

    x, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    classes = [make(tl.constexpr(k)) for k in (1, 2)]
    for _ in range(2):
        for cls, want in zip(classes, (1, 2), strict=True):
            kernel[(1,)](cls(x), out)
            assert out[0] == want


@pytest.mark.parametrize("make", MAKERS)
def test_their_order_counts(make):
    @triton.jit
    def kernel(ops, out_ptr):
        tl.store(out_ptr, ops[0].apply() + 10 * ops[1].apply() + 100 * ops[2].apply())

    x, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    one, two = (make(tl.constexpr(k))(x) for k in (1, 2))
    for ops, want in (((one, one, two), 211), ((one, two, one), 121), ((two, one, one), 112)):
        kernel[(1,)](ops, out)
        assert out[0] == want


STEP = tl.constexpr(5)


@dataclasses.dataclass
class Stepped:
    p: Any

    @triton.jit
    def apply(self):
        return tl.load(self.p) + STEP


def test_constants_that_methods_read_may_not_change(monkeypatch):
    @triton.jit
    def kernel(op, out_ptr):
        tl.store(out_ptr, op.apply())

    x, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    kernel[(1,)](Stepped(x), out)
    assert out[0] == 5
    monkeypatch.setitem(globals(), "STEP", tl.constexpr(6))
    with pytest.raises(RuntimeError, match="Global variable STEP has changed"):
        kernel[(1,)](Stepped(x), out)


def test_classes_as_constants_are_kept_apart():
    @triton.jit
    def kernel(out_ptr, OP: tl.constexpr):
        tl.store(out_ptr, OP.value.value)  # `.value` of a constexpr is its content

    def make(k):
        class Op:
            value = k

        return Op

    out = np.zeros(1, np.int32)
    for k in (3, 4):
        kernel[(1,)](out, OP=make(k))
        assert out[0] == k


def test_types_of_parts_compare_by_their_class():
    one, two = (make_dataclass(k) for k in (1, 2))
    kinds = [FieldTypes(cls, ("p",), ("*i32",)) for cls in (one, one, two)]
    assert kinds[0] == kinds[1] and hash(kinds[0]) == hash(kinds[1])
    assert kinds[0] != kinds[2] and len(set(kinds)) == 2
    assert kinds[0] != ("*i32",) and ("*i32",) != kinds[0]
    assert list(classes_in([(kinds[0], ("D",)), ("constexpr", tl.constexpr(two))])) == [one, two]
    assert class_key(one) != class_key(two) == class_key(make_dataclass(2))


def test_namedtuples_of_one_name_are_told_apart():
    def make(size):
        class Pair(NamedTuple):
            p: Any

            def double(self):
                return size

        return Pair(np.zeros(1, np.int32))

    one, two = ([class_key(cls) for cls in classes_in(make(size))] for size in (1, 2))
    assert len(one) == 1 and one != two


# --- Fields ----------------------------------------------------------------------------------------


@dataclasses.dataclass
class Scaled:
    ptr: Any
    given: dataclasses.InitVar[int]
    SHIFT: ClassVar[int] = 4
    factor: int = 0

    def __post_init__(self, given):
        self.factor = given * 2

    @triton.jit
    def load(self):
        return tl.load(self.ptr) * self.factor + self.SHIFT


@triton.jit
def scaled(source, out_ptr):
    tl.store(out_ptr, source.load())


def test_only_fields_of_objects_are_parts():
    assert libtriton.field_names(Scaled) == ("ptr", "factor")
    x, out = np.full(1, 3, np.int32), np.zeros(1, np.int32)
    assert libtriton.elements_of(Scaled(x, 5)) == (x, 10)
    for given in (5, 6):
        scaled[(1,)](Scaled(x, given), out)
        assert out[0] == 3 * 2 * given + 4
    assert device_of_arguments({"source": Scaled(x, 5)}) == ("cpu", 0)


def test_constants_without_their_initialisers():
    @triton.jit
    def kernel(out_ptr, JOB: tl.constexpr):
        tl.store(out_ptr, JOB.factor + JOB.SHIFT)

    out, hashes = np.zeros(1, np.int32), []
    for given in (5, 6, 5):
        hashes.append(kernel[(1,)](out, JOB=Scaled(None, given)).metadata.hash)
        assert out[0] == 2 * given + 4
    assert hashes[0] == hashes[2] != hashes[1]


def test_what_has_parts():
    @dataclasses.dataclass
    class TensorDescriptor:  # no descriptor in spite of its name
        ptr: Any

    x = np.zeros(1, np.int32)
    assert libtriton.elements_of(TensorDescriptor(x)) == (x,)
    assert device_of_arguments({"source": TensorDescriptor(x)}) == ("cpu", 0)
    assert libtriton.elements_of((x, 1)) == (x, 1)
    for whole in ([x, 1], x, None, 5, Scaled, "ab", tl.constexpr((1, 2))):
        assert libtriton.elements_of(whole) is None
    assert get_iterable_path([[1, (2, TensorDescriptor(3))]], (0, 1, 1, 0)) == 3


class Named(NamedTuple):
    object_class: Any
    fields: Any


def test_a_namedtuple_is_not_told_by_its_names():
    @triton.jit
    def kernel(pair):
        tl.store(pair.object_class, pair.fields)

    out = np.zeros(1, np.int32)
    kernel[(1,)](Named(out, 7))
    assert out[0] == 7


# --- Single programs -------------------------------------------------------------------------------


@triton.jit
def places(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    at = x + tl.num_programs(0) * (y + tl.num_programs(1) * z)
    tl.store(out_ptr + at, 100 * x + 10 * y + z + 1)


def test_one_program_of_a_grid():
    compiled = places[(1,)](np.zeros(1, np.int32))
    grid = (4, 3, 2)
    for program in ((0, 0, 0), (2, 1, 1), (0, 2, 0), (3, 2, 1)):
        out = np.zeros(grid[::-1], np.int32)
        compiled.function.launch_program(grid, program, (out,))
        want = np.zeros_like(out)
        want[program[::-1]] = 100 * program[0] + 10 * program[1] + program[2] + 1
        np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize(
    ("grid", "program", "message"),
    [
        ((4, 3, 2), (4, 0, 0), "program (4, 0, 0) is not in the grid (4, 3, 2)"),
        ((4, 3, 2), (0, 0, 2), "program (0, 0, 2) is not in the grid (4, 3, 2)"),
        ((0, 1, 1), (0, 0, 0), "program (0, 0, 0) is not in the grid (0, 1, 1)"),
        ((4, 3), (0, 0, 0), "the grid must have 3 dimensions, got (4, 3)"),
        ((4, 3, 2), (0, 0), "the program must have 3 dimensions, got (0, 0)"),
        ((4, 3, 2), (0, 0, 0, 0), "the program must have 3 dimensions, got (0, 0, 0, 0)"),
        ((4, 3, 2), (-1, 0, 0), "is -1; it must be between 0 and 4294967295"),
    ],
)
def test_programs_that_no_grid_has(grid, program, message):
    out = np.zeros(24, np.int32)
    compiled = places[(1,)](np.zeros(1, np.int32))
    with pytest.raises(ValueError, match=re.escape(message)):
        compiled.function.launch_program(grid, program, (out,))
    assert not out.any()


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (0, "i32"), (2**31 - 1, "i32"), (-(2**31), "i32"), (2**31, "u32"), (2**32, "i64"), (-(2**31) - 1, "i64"),
        (2**63, "u64"), (2**64, None), (True, "u1"), (1.5, "fp32"), (1e300, "fp64"), (float("inf"), "fp32"),
    ],
)  # fmt: skip
def test_types_of_numbers_on_their_own(number, kind):
    assert libtriton.natural_type(number) == kind
