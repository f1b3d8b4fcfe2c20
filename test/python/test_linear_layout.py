"""`triton.tools.LinearLayout`: construction, access, algebra, views, and errors."""
# SPDX-License-Identifier: MIT

import pytest
from triton.tools import LinearLayout

SWAPPED = LinearLayout.from_bases(
    [("in0", [[0, 1], [0, 2]]), ("in1", [[1, 0], [2, 0]])], ["out0", "out1"]
)


def values(layout, name, out, count):
    return [layout.apply({name: value})[out] for value in range(count)]


def test_one_dimension():
    assert values(LinearLayout.identity_1d(8, "i", "o"), "i", "o", 8) == list(range(8))
    assert values(LinearLayout.strided_1d(4, 2, "i", "o"), "i", "o", 4) == [0, 2, 4, 6]
    zeros = LinearLayout.zeros_1d(8, "i", "o")
    assert values(zeros, "i", "o", 8) == [0] * 8 and zeros.is_surjective()
    assert not LinearLayout.zeros_1d(8, "i", "o", outDimSize=4).is_surjective()


def test_bases_and_dims():
    assert SWAPPED.bases == [("in0", [[0, 1], [0, 2]]), ("in1", [[1, 0], [2, 0]])]
    assert SWAPPED.out_dims == [("out0", 4), ("out1", 4)]
    assert SWAPPED.get_in_dim_names() == ["in0", "in1"]
    assert SWAPPED.get_out_dim_names() == ["out0", "out1"]
    assert (SWAPPED.num_in_dims, SWAPPED.num_out_dims) == (2, 2)
    assert SWAPPED.apply({"in1": 3, "in0": 2}) == {"out0": 3, "out1": 2}
    assert SWAPPED.apply({"in1": 9, "in0": 1}) == {"out0": 1, "out1": 1}  # higher bits are dropped
    assert SWAPPED.get_matrix_view() == [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]


def test_sizes_of_outputs():
    wide = LinearLayout.from_bases([("i", [[0, 1], [0, 4]])], ["o", "p"], [1, 8], False)
    assert wide.out_dims == [("o", 1), ("p", 8)] and not wide.is_surjective()
    assert LinearLayout.from_bases([("i", [])], ["o"]).out_dims == [("o", 1)]


def test_product_stacks_bits():
    low, high = LinearLayout.identity_1d(4, "i", "o"), LinearLayout.identity_1d(8, "i", "o")
    assert low * high == LinearLayout.identity_1d(32, "i", "o")
    both = LinearLayout.identity_1d(8, "i", "o") * LinearLayout.identity_1d(4, "j", "p")
    assert both.apply({"i": 5, "j": 3}) == {"o": 5, "p": 3}
    stacked = LinearLayout()
    stacked *= SWAPPED
    assert stacked == SWAPPED and stacked != low and hash(stacked) == hash(SWAPPED)
    assert SWAPPED != 3


def test_composition_and_inverses():
    layout = LinearLayout.from_bases([("i", [[2], [1], [4]])], ["o"])
    assert layout.is_invertible() and layout.compose(layout.invert()) == LinearLayout.identity_1d(
        8, "i", "i"
    )
    copies = LinearLayout.from_bases([("i", [[1], [1], [2]])], ["o"])
    assert not copies.is_injective() and copies.pseudoinvert().bases == [("o", [[1], [4]])]
    small, large = LinearLayout.identity_1d(4, "a", "m"), LinearLayout.identity_1d(8, "c", "m")
    found = small.invert_and_compose(large)
    assert found.bases == [("a", [[1], [2]])] and found.out_dims == [("c", 8)]
    assert small.compose(LinearLayout.identity_1d(8, "m", "z")).out_dims == [("z", 8)]


def test_text():
    assert str(LinearLayout()) == "\n(empty layout)"
    mixed = LinearLayout.zeros_1d(1, "a", "b") * LinearLayout.identity_1d(4, "c", "d")
    assert repr(mixed) == (
        "\n - a is a size 1 dimension\n - c=1 -> (0, 1)\n   c=2 -> (0, 2)\n"
        "where out dims are: [b (size 1), d (size 4)]"
    )


THREADS = LinearLayout.from_bases(
    [("register", [[0, 1], [1, 0]]), ("lane", [[0, 2], [0, 0]]), ("warp", []), ("block", [])],
    ["dim0", "dim1"],
)


def test_views_of_threads():
    assert THREADS.get_distributed_view(False) == (
        "[[T0:0|T2:0, T0:1|T2:1, T1:0|T3:0, T1:1|T3:1]\n"
        "[ T0:2|T2:2, T0:3|T2:3, T1:2|T3:2, T1:3|T3:3]]\n"
    )
    assert THREADS.get_distributed_view(True) == (
        "Warp0:\n(0,0), (0,2), (0,0), (0,2)\n(0,1), (0,3), (0,1), (0,3)\n"
        "(1,0), (1,2), (1,0), (1,2)\n(1,1), (1,3), (1,1), (1,3)\n"
    )


def test_views_of_shared_memory():
    layout = LinearLayout.from_bases([("offset", [[1, 0], [0, 1]]), ("block", [])], ["a", "b"])
    assert layout.get_shared_view(False) == "[[(0),(2)]\n[ (1),(3)]]\n"
    assert layout.get_shared_view(True).splitlines()[2] == "Offset: 1 -> (1,0)"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: LinearLayout.identity_1d(3, "a", "b"), "size is 3; it must be a power of two"),
        (
            lambda: LinearLayout.from_bases([("i", [[0, 1], [0, 4]])], ["o", "p"]),
            "to be surjective",
        ),
        (lambda: LinearLayout.from_bases([("i", [[0, 1]])], ["o"]), "has 2 coordinates"),
        (lambda: LinearLayout.from_bases([("i", [[4]])], ["o"], [4], False), "coordinate 4"),
        (lambda: LinearLayout.from_bases([("i", [[4]])], ["o"], None, False), "must be provided"),
        (lambda: LinearLayout.from_bases([("i", [[4]])], ["o"], [4, 4]), "the same length"),
        (lambda: SWAPPED.apply({"in0": 1}), "every input has a value"),
        (lambda: SWAPPED.apply({"in0": 1, "x": 1}), "no input `x`"),
        (lambda: SWAPPED.compose(SWAPPED), "no input of the outer layout"),
        (lambda: LinearLayout.zeros_1d(4, "i", "o").invert(), "surjective and square"),
        (lambda: LinearLayout.zeros_1d(4, "i", "o", 4).pseudoinvert(), "surjective"),
        (
            lambda: LinearLayout.identity_1d(8, "a", "b").invert_and_compose(
                LinearLayout.identity_1d(4, "c", "b")
            ),
            "does not fit",
        ),
        (lambda: SWAPPED.get_distributed_view(False), "input `register`"),
    ],
)
def test_what_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
