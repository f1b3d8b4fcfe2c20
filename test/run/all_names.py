"""Every name of the language is launched by some test of this folder."""
# SPDX-License-Identifier: MIT

from pathlib import Path

import pytest
from _names import USED
from triton._C import libtriton

TESTS = Path(__file__).resolve().parents[1]
MOST_UNSUPPORTED = 10


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
        is_method_only = module == "triton.language.tensor"
        if not is_method_only and path not in USED.names and path not in unsupported():
            missing.append(path)
        if (entry["member"] or is_method_only) and not name.startswith("__"):
            missing += [f"tensor.{name}"] if name not in USED.methods else []
    assert not missing, f"{len(missing)} names are in no launched kernel: {', '.join(missing)}"


def test_few_names_are_unsupported_and_each_has_a_test_of_its_error():
    listed = unsupported()
    assert len(listed) <= MOST_UNSUPPORTED
    for name, test in listed.items():
        text = (TESTS.parent / test).read_text()
        assert name.split(".")[-1] in text, f"{test} does not name {name}"
