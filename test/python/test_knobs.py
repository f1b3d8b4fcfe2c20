"""Settings: environment, assignment, scopes, hooks."""
# SPDX-License-Identifier: MIT

import os
import shutil

import pytest
import triton
import triton.language as tl
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
    with pytest.raises(RuntimeError, match="isn't of the form MODULE:CLASS"):
        _ = knobs.cache.manager_class
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "pathlib:Path")
    with pytest.raises(RuntimeError, match="not of type 'CacheManager'"):
        _ = knobs.cache.manager_class
    monkeypatch.setenv("TRITON_REDIS_PORT", "many")
    with pytest.raises(RuntimeError, match="TRITON_REDIS_PORT=many: expected int"):
        _ = knobs.redis.port


def test_settings_of_other_packages(monkeypatch):
    class my_knobs(knobs.base_knobs):
        mode = knobs.env_str("MY_MODE", "plain")
        level = knobs.env_int("MY_LEVEL", 3)
        flag = knobs.env_opt_bool("MY_FLAG")
        listener = None

    group = my_knobs()
    assert list(group.knob_descriptors) == ["mode", "level", "flag"]
    assert group.knobs == {"mode": "plain", "level": 3, "flag": None}
    with group.scope():
        group.level, group.mode, group.listener = 5, "fast", print
        assert os.environ["MY_LEVEL"] == "5" and group.copy().mode == "fast"
        del group.mode
        assert group.mode == "fast"  # from the environment now
    assert group.knobs == {"mode": "plain", "level": 3, "flag": None} and group.listener is None
    assert "MY_LEVEL" not in os.environ


def test_assignments_stay_out_of_the_environment(monkeypatch):
    monkeypatch.delenv("TRITON_DUMP_MIR", raising=False)
    monkeypatch.setattr(knobs, "propagate_env", False)
    with knobs.amd.scope():
        knobs.amd.dump_mir = "/a"
        assert knobs.amd.dump_mir == "/a" and "TRITON_DUMP_MIR" not in os.environ


def test_a_tool_has_a_path_and_a_version(tmp_path, monkeypatch):
    program = tmp_path / "ptxas"
    program.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.9, V12.9.1'\n")
    program.chmod(0o755)
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = str(program)
        assert knobs.nvidia.ptxas == knobs.NvidiaTool(str(program), "12.9")
        assert knobs.nvidia.ptxas.version == "12.9"
        assert os.environ["TRITON_PTXAS_PATH"] == str(program)
    assert knobs.NvidiaTool.from_path(str(tmp_path / "none")) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setenv("TRITON_NVDISASM_PATH", "/none")
    monkeypatch.setattr("triton.backends.nvidia.assembler._wheels", list)
    monkeypatch.setattr("triton.backends.nvidia.assembler._DEFAULT_ROOT", str(tmp_path / "none"))
    with pytest.raises(RuntimeError, match="Cannot find nvdisasm"):
        _ = knobs.nvidia.nvdisasm


def test_fusion_is_forced_off(monkeypatch):
    monkeypatch.delenv("TRITON_DEFAULT_FP_FUSION", raising=False)
    assert knobs.language.fp_fusion_enabled(None) and not knobs.language.fp_fusion_enabled(False)
    monkeypatch.setenv("TRITON_FORCE_DISABLE_FP_FUSION", "1")
    assert not knobs.language.fp_fusion_enabled(True)


def test_kept_settings_are_read_again(monkeypatch):
    monkeypatch.setenv("TRITON_DEBUG", "1")
    assert knobs.runtime.debug is False
    with knobs.runtime.scope():
        knobs.refresh_knobs()
        assert knobs.runtime.debug is True


@triton.jit
def store_constant(out_ptr, N: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, 16), N)


def test_a_cache_folder_may_go_after_its_scope(tmp_path):
    source = triton.compiler.ASTSource
    for n in range(10):
        folder = tmp_path / str(n)
        with knobs.cache.scope():
            knobs.cache.dir = str(folder)
            triton.compile(source(store_constant, {"out_ptr": "*i32"}, {"N": n}))
        files = [path for path in folder.rglob("*") if path.is_file()]
        shutil.rmtree(folder)
        assert files
