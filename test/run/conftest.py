"""Makes `harness` importable for run-tests; prepares --device and --interpret, or skips with a reason."""
# SPDX-License-Identifier: MIT

import os
import sys
from pathlib import Path

import _brief
import _lists
import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

ONE_GPU = pytest.StashKey[bool]()  # a case whose kernels are compiled for the newer GPU alone


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sanitize", help="kernels check themselves: bounds,uninit,overflow,nan")
    parser.addoption("--record", help="a folder for what launches leave in arrays (_results.py)")


@pytest.fixture(scope="session", autouse=True)
def _sanitizers(request: pytest.FixtureRequest):
    """Applies --sanitize to every launch; see docs/sanitizer.md."""
    from triton import knobs

    words = request.config.getoption("--sanitize", None)
    if words:
        knobs.runtime.sanitize = words
    yield
    if words:
        del knobs.runtime.sanitize


@pytest.fixture(scope="session")
def reason_for_skip(device: str):
    """Makes that device the active one; yields the reason why nothing can be tested there, or an empty text."""
    import _gpu
    from triton.backends.nvidia.assembler import find_assembler
    from triton.runtime import driver

    if device == "cuda":
        yield _gpu.why_no_gpu()
    elif device == "cpu":
        driver.set_active_to_cpu()
        yield ""
        driver.reset_active()
    elif device.startswith("sim"):
        driver.set_active(_gpu.simulated_driver(device))
        yield ""
        driver.reset_active()
    elif device.startswith("hip:"):
        import _amd

        driver.set_active(_gpu.CompilingDriver(_amd.target_of(device)))
        yield _amd.why_no_disassembler()
        driver.reset_active()
    else:
        arch = device.removeprefix("cuda:")
        driver.set_active(_gpu.CompilingDriver(_gpu.target_of(arch)))
        yield "" if find_assembler(_gpu.capability_of(arch)).ptxas else "there is no ptxas to assemble with"
        driver.reset_active()


@pytest.fixture(autouse=True)
def _device_is_there(reason_for_skip: str) -> None:
    if reason_for_skip:
        pytest.skip(reason_for_skip)


@pytest.fixture(autouse=True)
def _leaves_out(request: pytest.FixtureRequest):
    """Reports why kernels of a test are not compiled for all GPUs."""
    import _gpu

    _gpu.compiles_for_older = not request.node.stash.get(ONE_GPU, False)
    _gpu.left_out.clear()
    yield
    request.node.user_properties += [("skipped", why) for why in sorted(set(_gpu.left_out))]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """Says how each test has ended, for --record."""
    from _results import RESULTS

    report = yield
    if report.when == "setup":
        RESULTS.begin(item.nodeid)
    if report.when == "call" or report.outcome != "passed":
        RESULTS.end(report.outcome)
    return report


def pytest_configure(config: pytest.Config) -> None:
    from _results import RESULTS

    if config.getoption("--record", None):
        index, _ = config.getoption("--shard") or (0, 1)
        RESULTS.open(config.getoption("--record"), f"part-{index}")
    config.addinivalue_line("markers", "runs_last: after all other tests of this folder")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Skips the tests in cuda_later.txt if the device is a GPU, and those in interpret_not.txt with --interpret; moves
    tests marked `runs_last` to the end.
    """
    here = Path(__file__).resolve().parent
    options, asked = session.config.option, map(os.path.abspath, session.config.args)
    session.is_whole = str(here) in asked and not (
        options.keyword or options.markexpr or options.shard
    )
    items.sort(key=lambda item: item.get_closest_marker("runs_last") is not None)
    if str(session.config.getoption("--device")).startswith(("cuda", "sim", "hip")):
        _skip(items, "cuda_later.txt", "not on NVIDIA GPUs yet")
    if str(session.config.getoption("--device")).startswith("sim"):
        _skip(items, "sim_later.txt", "not on the simulated GPU")
    if session.config.getoption("--brief"):
        for cases in _brief.by_function(items):
            older = {id(case) for case in _brief.with_every_value(cases)}
            for case in cases:
                case.stash[ONE_GPU] = id(case) not in older
    if session.config.getoption("--interpret"):
        _skip(items, "interpret_not.txt", "not in interpreter mode")


def _skip(items: list[pytest.Item], table: str, why: str) -> None:
    """Skips the tests that the table lists."""
    names = _lists.listed(table)
    for item in items:
        if _lists.is_listed(item, names):
            item.add_marker(pytest.mark.skip(reason=f"{why} ({table})"))
