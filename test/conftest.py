"""What the run and python levels share: the option --device and the fixture `device`."""
# SPDX-License-Identifier: MIT

import os

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", default="cpu", choices=("cpu", "cuda"), help="where kernels run")


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """cpu or cuda, as asked for on the command line."""
    return request.config.getoption("--device")


def pytest_ignore_collect(collection_path, config):  # noqa: ANN001, ANN201
    """Files whose names start with an underscore are imported by tests, not collected."""
    return True if collection_path.name.startswith("_") else None
