"""Packs: a process with one compiles nothing, also elsewhere; files that are no packs are named."""
# SPDX-License-Identifier: MIT

import os
import shutil
import subprocess
import sys
import warnings

import pytest
import triton
from triton import knobs
from triton.runtime import packs
from triton.tools import pack as command

KERNELS = """
import numpy as np
import triton
import triton.language as tl


@triton.jit
def helper(x):
    return x * 2


@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, helper(tl.load(x_ptr + offsets, mask=mask)), mask=mask)


def launch(n):
    x = np.ones(256, np.float32)
    scale[(1,)](x, n, BLOCK=256)
    assert (x[:n] == 2).all() and (x[n:] == 1).all()
"""
PROGRAM = "import kernels\nfor n in (1, 16, 17):\n    kernels.launch(n)\nprint('served')\n"


def run(folder, *words, **variables):
    """The program of a folder, in a process whose cache folder is that of `TRITON_CACHE_DIR`, or empty."""
    environment = {
        **os.environ,
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "TRITON_DEFAULT_BACKEND": "cpu",
        **{name: str(value) for name, value in variables.items()},
    }
    return subprocess.run(
        [sys.executable, *(words or ("program.py",))],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def write_program(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernels.py").write_text(KERNELS)
    (folder / "program.py").write_text(PROGRAM)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the program, its record, a key and a signed pack."""
    folder = write_program(tmp_path_factory.mktemp("made"))
    done = run(folder, TRITON_RECORD="run.jsonl")
    assert done.returncode == 0, done.stderr
    key = run(folder, "-m", "nereid", "pack", "--new-key", "signing.key")
    (folder / "public.key").write_text(key.stdout)
    words = ("-m", "nereid", "pack", "run.jsonl", "--sign", "signing.key", "-o", "run.pack")
    done = run(folder, *words, "--target", "cpu,cpu:x86-64-v3,cuda:90")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def key(made):
    return (made / "public.key").read_text().strip()


def test_a_process_elsewhere_compiles_nothing(made, tmp_path):
    shutil.move(shutil.copy(made / "run.pack", tmp_path), tmp_path / "renamed")
    folder = write_program(tmp_path / "elsewhere")
    done = run(folder, TRITON_PACKS="../renamed", TRITON_JIT="forbid")
    assert (done.stdout, done.returncode) == ("served\n", 0), done.stderr
    assert not list((folder / "cache").rglob("*.nereid"))


def test_the_key_does_not_depend_on_the_tools(made, tmp_path):
    folder = write_program(tmp_path / "elsewhere")
    done = run(folder, TRITON_PACKS=made / "run.pack", TRITON_JIT="forbid", TRITON_PTXAS_PATH="/bin/false")  # fmt: skip
    assert done.stdout == "served\n", done.stderr


def test_a_baseline_serves_this_host(made, tmp_path):
    path = tmp_path / "baseline.pack"
    done = run(made, "-m", "nereid", "pack", "run.jsonl", "--target", "cpu:x86-64-v2", "-o", path)
    assert done.returncode == 0, done.stderr
    done = run(made, TRITON_PACKS=path, TRITON_JIT="forbid", TRITON_CACHE_DIR=tmp_path / "empty")
    assert done.stdout == "served\n", done.stderr


def test_a_changed_function_is_not_served(made, tmp_path):
    folder = write_program(tmp_path / "changed")
    (folder / "kernels.py").write_text(KERNELS.replace("x * 2", "2 * x"))
    done = run(folder, TRITON_PACKS=made / "run.pack", TRITON_JIT="forbid")
    assert done.returncode != 0 and "JitForbidden" in done.stderr


def test_entries_name_kernels_and_targets(made, key):
    pack = packs.open_pack(made / "run.pack", key)
    assert len(pack) == 9 and pack.is_signed
    assert {entry["name"] for entry in pack} == {"scale"}
    assert {"cpu:x86-64-v3", "cuda:90"} < set(pack.targets())
    assert pack.artifact(0)


def test_load_pack_serves_until_it_is_closed(made, own_cache, cpu_is_active, monkeypatch):
    monkeypatch.syspath_prepend(str(made))
    monkeypatch.delitem(sys.modules, "kernels", raising=False)
    import kernels

    with knobs.runtime.scope():
        knobs.runtime.jit = "forbid"
        pack = triton.load_pack(made / "run.pack")
        try:
            kernels.launch(17)
        finally:
            pack.close()
        kernels.scale.device_caches.clear()
        with pytest.raises(triton.runtime.errors.JitForbidden):
            kernels.launch(17)


def forget(kernels):
    kernels.scale.device_caches.clear()


def test_the_setting_is_followed_both_ways(made, own_cache, cpu_is_active, monkeypatch):
    monkeypatch.syspath_prepend(str(made))
    monkeypatch.delitem(sys.modules, "kernels", raising=False)
    import kernels

    with knobs.runtime.scope(), knobs.cache.scope():
        knobs.runtime.jit = "forbid"
        for _ in range(2):
            knobs.cache.packs = str(made / "run.pack")
            kernels.launch(17)
            assert [pack.path for pack in packs.served()] == [str(made / "run.pack")]
            forget(kernels)
            knobs.cache.packs = ""
            with pytest.raises(triton.runtime.errors.JitForbidden):
                kernels.launch(17)
            assert packs.served() == []


def test_the_key_of_a_kernel_is_that_of_its_entry(made, own_cache, cpu_is_active, monkeypatch):
    monkeypatch.syspath_prepend(str(made))
    monkeypatch.delitem(sys.modules, "kernels", raising=False)
    import kernels

    kernels.launch(17)  # compiled here, and not taken from the pack
    ((kept, *_),) = kernels.scale.device_caches.values()
    (kernel,) = kept.values()
    assert not kernel._code.cache_hit
    keys = [entry["key"] for entry in packs.open_pack(made / "run.pack")]
    assert kernel._code.pack_key in keys


def test_entries_are_a_sequence(made):
    pack = packs.open_pack(made / "run.pack")
    assert pack[-1] == pack.entries[len(pack) - 1] == list(pack)[-1]
    assert sorted(entry["key"] for entry in pack) == [entry["key"] for entry in pack]
    with pytest.raises(IndexError):
        pack[len(pack)]


def test_records_are_listed_once(made):
    pack = packs.open_pack(made / "run.pack")
    assert sorted(pack.records()) == sorted({entry["record"] for entry in pack})


def test_preload_returns_the_kernels(made, own_cache, cpu_is_active, monkeypatch):
    monkeypatch.syspath_prepend(str(made))
    monkeypatch.delitem(sys.modules, "kernels", raising=False)
    pack = triton.load_pack(made / "run.pack")
    try:
        assert len(pack.preload()) >= 3
    finally:
        pack.close()


# --- Bad files -----------------------------------------------------------------------------------


def damaged(made, tmp_path, how):
    content = bytearray((made / "run.pack").read_bytes())
    how(content)
    path = tmp_path / "bad.pack"
    path.write_bytes(content)
    return path


def cut(content):
    del content[1000:]


def other_version(content):
    content[8] = 9


def flip_header(content):
    content[300] ^= 1


BAD = {"cut": (cut, "pack-truncated"), "version": (other_version, "pack-version"), "flipped": (flip_header, "pack-checksum")}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_load_pack_names_what_is_wrong(made, tmp_path, name):
    how, code = BAD[name]
    path = damaged(made, tmp_path, how)
    with pytest.raises(packs.PackError, match=rf"bad\.pack: .*\[{code}\]"):
        triton.load_pack(path)


def test_an_absent_file_is_an_error_of_the_system(tmp_path):
    with pytest.raises(OSError, match=r"absent\.pack: No such file"):
        triton.load_pack(tmp_path / "absent.pack")


def test_packs_of_other_keys_are_refused(made, key):
    with pytest.raises(packs.PackError, match="pack-signature"):
        triton.load_pack(made / "run.pack", verify="0" * 64)
    with pytest.raises(packs.PackError, match="pack-key"):
        triton.load_pack(made / "run.pack", verify="secret")
    triton.load_pack(made / "run.pack", verify=key).close()


def test_a_bad_pack_of_the_setting_is_a_warning(made, tmp_path):
    path = damaged(made, tmp_path, cut)
    done = run(made, TRITON_PACKS=path, TRITON_CACHE_DIR=tmp_path / "empty")
    assert done.stdout == "served\n" and done.returncode == 0
    assert f"{path}: " in done.stderr and "[pack-truncated]" in done.stderr


def test_a_bad_pack_of_the_setting_is_an_error_where_nothing_may_compile(made, tmp_path):
    path = damaged(made, tmp_path, cut)
    done = run(made, TRITON_PACKS=path, TRITON_JIT="forbid", TRITON_CACHE_DIR=tmp_path / "empty")
    assert done.returncode != 0 and "PackError" in done.stderr and "[pack-truncated]" in done.stderr


def test_a_damaged_kernel_is_compiled_with_a_warning(made, tmp_path):
    def flip_kernels(content):
        for at in range(len(content) - 64, len(content) // 2, -64):
            content[at] ^= 1

    path = damaged(made, tmp_path, flip_kernels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = run(made, TRITON_PACKS=path, TRITON_CACHE_DIR=tmp_path / "empty")
    assert done.stdout == "served\n", done.stderr


# --- The command ---------------------------------------------------------------------------------


def test_list_and_verify(made, key, capsys):
    path = str(made / "run.pack")
    assert command.main(["--list", path]) == 0
    assert "scale" in capsys.readouterr().out
    assert command.main(["--verify", path, "--key", key]) == 0
    assert "9 kernels, 0 damaged, signed by" in capsys.readouterr().out


def test_verify_counts_damaged_kernels(made, tmp_path, capsys):
    def flip_last(content):
        content[-20] ^= 1

    assert command.main(["--verify", str(damaged(made, tmp_path, flip_last))]) == 1
    assert "9 kernels, 1 damaged" in capsys.readouterr().out


def test_a_line_that_is_no_record_is_located(tmp_path, capsys):
    path = tmp_path / "run.jsonl"
    path.write_text('\n{"version": 7}\n')
    assert command.main([str(path), "-o", str(tmp_path / "out.pack")]) == 1
    assert f"{path}:2: " in capsys.readouterr().err
    assert not (tmp_path / "out.pack").exists()


def test_what_does_not_compile_is_left_out_on_request(made, tmp_path, capsys):
    lines = (made / "run.jsonl").read_text()
    record, output = tmp_path / "run.jsonl", str(tmp_path / "out.pack")
    record.write_text(
        lines + lines.splitlines()[0].replace("kernels:scale", "kernels:absent") + "\n"
    )
    assert command.main([str(record), "-o", output]) == 1
    assert "is not written" in capsys.readouterr().err and not os.path.exists(output)
    assert command.main([str(record), "-o", output, "--keep-going"]) == 0
    assert "3 kernels" in capsys.readouterr().out


def test_a_lock_file_is_kept(made, tmp_path):
    lock, output = tmp_path / "triton.lock", tmp_path / "out.pack"
    lock.write_text('{"some": "text"}\n')
    assert command.main([str(made / "run.jsonl"), "-o", str(output), "--lock", str(lock)]) == 0
    assert packs.open_pack(output).lock == '{"some": "text"}\n'


def test_a_signing_key_is_for_its_owner_alone(made):
    assert (made / "signing.key").stat().st_mode & 0o777 == 0o600


def test_a_signing_key_that_is_none_is_named(made, tmp_path, capsys):
    path = tmp_path / "key"
    path.write_text("secret")
    words = [str(made / "run.jsonl"), "-o", str(tmp_path / "out.pack"), "--sign", str(path)]
    assert command.main(words) == 1
    assert "64 hexadecimal digits" in capsys.readouterr().err
