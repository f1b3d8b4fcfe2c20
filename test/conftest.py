"""What the run and python levels share: the options --device and --shard, the fixture `device`."""
# SPDX-License-Identifier: MIT

import os
import re

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _device(text: str) -> str:
    if not re.fullmatch(r"cpu|cuda|(cuda|sim):\d+(\+tma)?|sim|(hip|sim):gfx\w+", text):
        raise ValueError(text)
    return text


def _shard(text: str) -> tuple[int, int]:
    index, count = map(int, text.split("/"))
    if not 0 <= index < count:
        raise ValueError(text)
    return index, count


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        default="cpu",
        type=_device,
        help="where kernels run: cpu, cuda; cuda:90 and hip:gfx942 only compile for that GPU, sim:90 and "
        "sim:gfx942 run on a simulated GPU",
    )
    parser.addoption(
        "--interpret",
        action="store_true",
        help="kernels of test/run under TRITON_INTERPRET=1; what interpret_not.txt lists is skipped",
    )
    parser.addoption("--shard", type=_shard, help="I/N: only the I-th of N parts of the tests")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--interpret"):
        os.environ["TRITON_INTERPRET"] = "1"  # read where `triton.jit` decorates a function
    config.addinivalue_line("markers", "kernels(n): how many kernels a case compiles, if not one")


def _kernels(cases: list[pytest.Item]) -> int:
    marks = (case.get_closest_marker("kernels") for case in cases)
    return sum(mark.args[0] if mark else 1 for mark in marks)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps one shard: all cases of a function are in the same one, since they often share kernels."""
    if config.getoption("--shard") is None:
        return
    wanted, count = config.getoption("--shard")
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    parts: list[list[pytest.Item]] = [[] for _ in range(count)]
    for cases in sorted(functions.values(), key=_kernels, reverse=True):
        min(parts, key=_kernels).extend(cases)
    kept = {id(item) for item in parts[wanted]}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = [item for item in items if id(item) in kept]


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """The device given on the command line."""
    return request.config.getoption("--device")


def pytest_ignore_collect(collection_path, config):  # noqa: ANN001, ANN201
    """Files whose names start with an underscore are imported by tests, not collected."""
    return True if collection_path.name.startswith("_") else None
