"""The examples of the documentation that need this environment."""
# SPDX-License-Identifier: MIT

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python"))

import _doc_examples as examples  # noqa: E402


@pytest.mark.parametrize("block", examples.xla_blocks("torch"), ids=str)
def test_example(block, tmp_path):
    examples.Run(tmp_path, xla="torch").add(block)
