"""Settings: environment, assignment, scopes, hooks."""
# SPDX-License-Identifier: MIT

import os

import pytest
from triton import knobs


def test_environment_is_read_at_use(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    assert knobs.cache.dir == str(tmp_path)
    monkeypatch.setenv("TRITON_CACHE_DIR", "/elsewhere")
    assert knobs.cache.dir == "/elsewhere"
    monkeypatch.delenv("TRITON_CACHE_DIR")
    monkeypatch.setenv("TRITON_HOME", str(tmp_path))
    assert knobs.cache.dir == str(tmp_path / ".triton" / "cache")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", True),
        ("true", True),
        ("ON", True),
        ("yes", True),
        ("0", False),
        ("", False),
        ("no", False),
    ],
)
def test_flags(monkeypatch, text, value):
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", text)
    assert knobs.compilation.always_compile is value


def test_assignment_goes_to_the_environment_and_back(monkeypatch):
    monkeypatch.delenv("TRITON_PRINT_AUTOTUNING", raising=False)
    with knobs.autotuning.scope():
        knobs.autotuning.print = True
        assert knobs.autotuning.print is True and os.environ["TRITON_PRINT_AUTOTUNING"] == "1"
        knobs.autotuning.print = knobs.env
        os.environ["TRITON_PRINT_AUTOTUNING"] = "0"
        assert knobs.autotuning.print is False
    assert "TRITON_PRINT_AUTOTUNING" not in os.environ and knobs.autotuning.print is False


def test_reset_and_copy(monkeypatch):
    monkeypatch.delenv("TRITON_LIBDEVICE_PATH", raising=False)
    with knobs.nvidia.scope():
        knobs.nvidia.libdevice_path = "/a"
        twin = knobs.nvidia.copy()
        assert twin.libdevice_path == "/a" and knobs.nvidia.knobs["libdevice_path"] == "/a"
        os.environ.pop("TRITON_LIBDEVICE_PATH")
        knobs.nvidia.reset()
        assert knobs.nvidia.libdevice_path is None and twin.libdevice_path == "/a"


def test_hook_chains():
    seen = []
    chain, backwards = knobs.HookChain(), knobs.HookChain(reversed=True)
    first, second = (lambda x: seen.append(("first", x))), (lambda x: seen.append(("second", x)))
    for hooks in (chain, backwards):
        hooks.add(first)
        hooks.add(second)
        hooks.add(first)
        hooks(1)
    assert [name for name, _ in seen] == ["first", "second", "second", "first"] and chain.calls == [
        first,
        second,
    ]
    chain.remove(first)
    chain.remove(first)
    assert chain.calls == [second] and bool(knobs.HookChain())


def test_unknown_values_are_errors(monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "no_colon")
    with pytest.raises(RuntimeError, match="expected module:Class"):
        _ = knobs.cache.manager_class
