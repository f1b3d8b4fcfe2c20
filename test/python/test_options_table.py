"""The options of Python's launches are those of include/nereid/Options.def."""

# SPDX-License-Identifier: MIT

import dataclasses
import re
from pathlib import Path

import pytest
import triton
from triton.backends.amd.compiler import HIPOptions
from triton.backends.cpu.compiler import CPUOptions
from triton.backends.nvidia.compiler import CUDAOptions

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(
    r"NEREID_OPTION\((\w+),\s*(\w+),\s*([^,]+),\s*\"(\w+)\",\s*\"([\w-]*)\",\s*(\w+),\s*(\w+),"
)
# Python sets these beside a target's options.
OF_THE_COMPILATION = {"own_launcher", "reproducer_path"}
# A target's own defaults.
OWN_DEFAULTS = {
    ("hip", "num_stages"),
    *(
        (name, option)
        for name in ("cpu", "cuda", "hip")
        for option in ("supported_fp8_dtypes", "default_dot_input_precision")
    ),
}
VALUES = {"true": True, "false": False}


def rows():
    text = (ROOT / "include" / "nereid" / "Options.def").read_text()
    return {python: (kind, default) for _, kind, default, python, *_ in ROW.findall(text)}


def test_every_row_is_read():
    text = (ROOT / "include" / "nereid" / "Options.def").read_text()
    assert len(rows()) == len(re.findall(r"^NEREID_OPTION\(", text, re.MULTILINE)) > 20


def test_every_row_is_an_option_of_a_target():
    known = {
        field.name
        for options in (CPUOptions, CUDAOptions, HIPOptions)
        for field in dataclasses.fields(options)
    }
    assert set(rows()) - known == OF_THE_COMPILATION


@pytest.mark.parametrize("options", [CPUOptions, CUDAOptions, HIPOptions])
def test_defaults_are_those_of_the_table(options):
    table = rows()
    compared = 0
    for field in dataclasses.fields(options):
        if field.name not in table or (options.backend_name, field.name) in OWN_DEFAULTS:
            continue
        kind, default = table[field.name]
        expected = VALUES.get(default, int(default) if default.isdigit() else None)
        assert (field.default or None) == (expected or None), field.name
        compared += 1
    assert compared > 5


def test_the_page_of_the_cpp_api_names_every_field():
    page = (ROOT / "docs" / "cpp-api.md").read_text()
    text = (ROOT / "include" / "nereid" / "Options.def").read_text()
    assert [row[0] for row in ROW.findall(text) if f"`{row[0]}`" not in page] == []


@triton.jit
def empty():
    pass


@pytest.mark.parametrize("number", [1.5, -1, 2**40])
def test_numbers_are_integers_in_range(number):
    text = f"`num_stages` must be an integer from 0 to 2147483647, got {number}"
    with pytest.raises(ValueError, match=re.escape(text)):
        empty[(1,)](num_stages=number)
