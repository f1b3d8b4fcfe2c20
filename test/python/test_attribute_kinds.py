"""Attributes of wrong kinds in IR: errors with the text's position, whichever op they stand on."""
# SPDX-License-Identifier: MIT

import pytest
import triton
import triton.language as tl
from _refused_ttir import refusal
from triton.compiler import ASTSource
from triton.runtime import driver

KERNEL = """\
module {
  tt.func public @kernel(%p: !tt.ptr<i32>, %n: i32) ATTRIBUTES {
    %x = tt.load %p LOAD : !tt.ptr<i32>
    tt.store %p, %x STORE : !tt.ptr<i32>
    tt.return
  }
}
"""
LINES = {"ATTRIBUTES": 2, "LOAD": 3, "STORE": 4}


def kernel(**parts):
    text = KERNEL
    for name in LINES:
        text = text.replace(name, parts.get(name, ""))
    return text


@pytest.mark.parametrize(
    "where, attributes, words",
    [
        ("LOAD", "{isVolatile = 1024 : i32}", "isVolatile"),
        ("LOAD", "{isVolatile = unit}", "isVolatile"),
        ("LOAD", "{cache = 77 : i32}", "cache"),
        ("LOAD", "{cache = 1 : i64}", "cache"),
        ("LOAD", "{evict = -1 : i32}", "evict"),
        ("LOAD", '{evict = "first"}', "evict"),
        ("LOAD", "{cachePolicy = 1 : i32}", "cachePolicy"),
        ("STORE", "{cache = array<i32: 1>}", "cache"),
        ("STORE", "{evict = @evict}", "evict"),
        ("ATTRIBUTES", "attributes {arg_attrs = 1 : i32}", "arg_attrs"),
        ("ATTRIBUTES", "attributes {res_attrs = [1 : i32]}", "res_attrs"),
        ("LOAD", "{note = array<index: 1>}", "array attribute"),
        ("LOAD", "{note = array< // index\n index>}", "array attribute"),
        ("STORE", "{note = [{a = array<none>}]}", "array attribute"),
    ],
)
def test_wrong_kinds_are_refused(tmp_path, where, attributes, words):
    diagnostics = refusal(tmp_path, kernel(**{where: attributes}))
    assert [d.code for d in diagnostics] == ["invalid-ir"]
    assert words in diagnostics[0].message
    assert diagnostics[0].line == LINES[where] + attributes.count("\n")


def test_array_of_an_alias_is_refused_and_words_in_comments_and_strings_are_not(tmp_path):
    alias = "!t = index\n" + kernel(LOAD="{note = array<!t: 1>}")
    assert "array attribute" in refusal(tmp_path, alias)[0].message
    path = tmp_path / "kernel.ttir"
    path.write_text(
        "// array<index>\n" + kernel(LOAD='{note = "array<index>", more = array<si8: 1>}')
    )
    assert triton.compile(str(path), target=driver.active.get_current_target()).name == "kernel"


def test_errors_are_placed_in_the_text_though_its_locations_name_another(tmp_path):
    text = kernel().replace("tt.return", 'tt.return %n : i32 loc("model.py":7:3)')
    (diagnostic,) = refusal(tmp_path, text)
    assert (diagnostic.line, diagnostic.column) == (
        5,
        5,
    ) and "returns other types" in diagnostic.message


@triton.jit
def store(p, n):
    tl.store(p, n)


@pytest.mark.parametrize(
    "attribute, kind, words",
    [
        (
            ["tt.divisibility", 1 << 70],
            ValueError,
            "tt.divisibility must fit in 64 bits, got 1180591620717411303424",
        ),
        (["tt.divisibility", -(1 << 70)], ValueError, "must fit in 64 bits"),
        (["tt.pointer_range", 1 << 70], ValueError, "tt.pointer_range must fit in 64 bits"),
        (["tt.divisibility", "16"], TypeError, "pairs of a name and a number"),
        (["tt.divisibility", None], TypeError, "pairs of a name and a number"),
        (["tt.divisibility", 16.5], TypeError, "pairs of a name and a number"),
        (["tt.divisibility"], TypeError, "pairs of a name and a number"),
        (["tt.divisibility", 24], ValueError, "must be a power of 2, got 24"),
    ],
)
def test_attributes_of_parameters(attribute, kind, words):
    source = ASTSource(store, {"p": "*i32", "n": "i32"}, {}, {(0,): [attribute]})
    with pytest.raises(kind, match=words):
        triton.compile(source, target=driver.active.get_current_target())
