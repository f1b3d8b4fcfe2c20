"""What the levels of pytest share: the options --device, --brief and --shard, the fixture `device`."""
# SPDX-License-Identifier: MIT

import os
import re
from collections.abc import Iterable
from typing import Any

import _brief
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
    parser.addoption(
        "--brief",
        action="store_true",
        help="what ./dev test leaves of all cases; see test/_brief.py",
    )
    parser.addoption("--shard", type=_shard, help="I/N: only the I-th of N parts of the tests")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--interpret"):
        os.environ["TRITON_INTERPRET"] = "1"  # read where `triton.jit` decorates a function
    config.addinivalue_line("markers", "kernels(n): how many kernels a case compiles, if not one")
    for marker in _brief.MARKERS:
        config.addinivalue_line("markers", marker)


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(name: str) -> Any:
    """Refuses marks that name no case, which a renamed parameter would leave without effect."""
    made = yield
    if isinstance(made, list) and made and (unknown := _brief.unknown_ids(made)):
        raise pytest.Collector.CollectError(f"{name} has no case {', '.join(unknown)}")
    return made


def _kernels(cases: list[pytest.Item]) -> int:
    marks = (case.get_closest_marker("kernels") for case in cases)
    return sum(mark.args[0] if mark else 1 for mark in marks)


def _shard_of(items: list[pytest.Item], index: int, count: int) -> list[pytest.Item]:
    """All cases of a function are in the same shard, since they often share kernels."""
    parts: list[list[pytest.Item]] = [[] for _ in range(count)]
    for cases in sorted(_brief.by_function(items), key=_kernels, reverse=True):
        min(parts, key=_kernels).extend(cases)
    return parts[index]


def _keep(config: pytest.Config, items: list[pytest.Item], wanted: Iterable[pytest.Item]) -> None:
    kept = {id(item) for item in wanted}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = [item for item in items if id(item) in kept]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Applies --brief and --shard."""
    if config.getoption("--brief"):
        is_on_cpu = config.getoption("--device") == "cpu"
        brief = (_brief.selected(cases, is_on_cpu) for cases in _brief.by_function(items))
        _keep(config, items, [case for cases in brief for case in cases])
    if config.getoption("--shard"):
        _keep(config, items, _shard_of(items, *config.getoption("--shard")))


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """The device given on the command line."""
    return request.config.getoption("--device")


def pytest_ignore_collect(collection_path, config):  # noqa: ANN001, ANN201
    """Files whose names start with an underscore are imported by tests, not collected."""
    return True if collection_path.name.startswith("_") else None
