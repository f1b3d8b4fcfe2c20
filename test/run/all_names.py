"""Every name of the language is used by some kernel that this folder launches."""
# SPDX-License-Identifier: MIT

import re
from pathlib import Path

import pytest
from _names import USED
from triton._C import libtriton

TESTS = Path(__file__).resolve().parents[1]
MOST_UNSUPPORTED = 10
METHODS_OF = ("triton.language.tensor", "triton.language.tensor_descriptor")


def unsupported():
    """Name -> the test that shows its error."""
    lines = (TESTS / "unsupported.txt").read_text().splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


@pytest.mark.runs_last
def test_every_name_of_the_table_was_launched(request, device):
    if device != "cpu" or not request.session.is_whole:
        pytest.skip("only part of the run-tests were asked for")
    missing = []
    for entry in [*libtriton.builtins(), *libtriton.stdlib()]:
        name, module = entry["name"], entry["module"]
        path = f"{module}.{name}"
        is_method_only = module in METHODS_OF
        if not is_method_only and path not in USED.names and path not in unsupported():
            missing.append(path)
        if (entry["member"] or is_method_only) and not name.startswith("__"):
            missing += [f"{module}.{name}()"] if name not in USED.methods else []
    assert not missing, f"{len(missing)} names are in no launched kernel: {', '.join(missing)}"


def test_few_names_are_unsupported_and_each_has_a_test_of_its_error():
    listed = unsupported()
    assert len(listed) <= MOST_UNSUPPORTED
    for name, test in listed.items():
        shown = name.removeprefix("triton.language.")
        text = (TESTS.parent / test).read_text()
        error = re.search(rf"error: `tl\.{re.escape(shown)}` does not exist .*\n.*{re.escape(shown)}\(", text)
        assert error, f"{test} does not show the error of {name}"
