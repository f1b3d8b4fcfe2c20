"""Lock files: the text, what an autotuner takes from one, and what is said of one that does not fit."""
# SPDX-License-Identifier: MIT

import json
import os
import random
import warnings

import numpy as np
import pytest
import triton
import triton.language as tl
from triton import knobs
from triton._C import libtriton
from triton._warnings import warn_once
from triton.runtime import packs
from triton.runtime.locks import decisions, lock_file
from triton.tools import lock as lock_tool


@triton.jit
def shift_kernel(x_ptr, n, by, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) + by, mask=at < n)


class Bench:
    """Replaces the clock: the times that it is given, in order."""

    def __init__(self, *times):
        self.times = list(times)
        self.calls = 0

    def __call__(self, call, quantiles):
        self.calls += 1
        call()
        return [self.times.pop(0)] * 3


def tuned(*times, blocks=(16, 32, 64), **options):
    bench = Bench(*times)
    configs = [triton.Config({"BLOCK": block}) for block in blocks]
    return triton.autotune(configs=configs, key=["n"], do_bench=bench, **options)(
        shift_kernel
    ), bench


def launch(tuner, n=100):
    x = np.zeros(n, np.float32)
    tuner[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, n, 3.0)
    return tuner.best_config.kwargs["BLOCK"]


@pytest.fixture
def lock(tmp_path):
    warn_once.cache_clear()
    with knobs.autotuning.scope():
        knobs.autotuning.lock = str(tmp_path / "triton.lock")
        yield tmp_path / "triton.lock"


def line_of(lock, **changes):
    """The file's only line with other fields; a field that is None is left out."""
    fields = {**json.loads(lock.read_text()), **changes}
    lock.write_text(json.dumps({k: v for k, v in fields.items() if v is not None}) + "\n")


# --- What is written and read --------------------------------------------------------------------


def test_a_decision_is_one_line_in_the_order_of_its_fields(lock):
    tuner, _ = tuned(3.0, 1.23456, 2.0)
    assert launch(tuner) == 32
    fields = json.loads(lock.read_text())
    assert lock.read_text() == json.dumps(fields, sort_keys=True) + "\n"
    assert fields.keys() == {"arch", "class", "config", "kernel", "ms", "source"}
    assert fields["class"] == [100, "float32"] and fields["ms"] == 1.235
    assert fields["config"]["BLOCK"] == 32 and fields["config"]["num_warps"] == 4
    assert fields["kernel"] == "test_lock_files:shift_kernel"
    assert fields["source"] == shift_kernel.cache_key[:16]
    assert fields["arch"].split(":")[0] in ("cpu", "cuda", "hip")


def test_the_next_process_does_not_time(lock):
    launch(tuned(3.0, 2.0, 1.0)[0])
    tuner, bench = tuned()
    assert launch(tuner) == 64 and bench.calls == 0


def test_another_class_is_timed_and_kept_in_order(lock):
    launch(tuned(3.0, 2.0, 1.0)[0], n=200)
    tuner, bench = tuned(1.0, 2.0, 3.0)
    assert launch(tuner, n=100) == 16 and bench.calls == 3
    assert [json.loads(line)["class"][0] for line in lock.read_text().splitlines()] == [100, 200]


def test_without_the_setting_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert launch(tuned(1.0, 2.0, 3.0)[0]) == 16
    assert os.listdir(tmp_path) == []


def test_nothing_but_the_lock_is_left_in_its_folder(lock):
    launch(tuned(1.0, 2.0, 3.0)[0])
    assert os.listdir(lock.parent) == ["triton.lock"]


def test_a_listener_hears_of_a_decision_of_a_lock(lock):
    launch(tuned(3.0, 2.0, 1.0)[0])
    heard = []
    knobs.autotuning.listener = lambda **info: heard.append(info)
    launch(tuned()[0])
    assert [(info["cache_hit"], info["best_config"].kwargs) for info in heard] == [
        (True, {"BLOCK": 64})
    ]


def test_the_lock_beside_the_source_is_read(tmp_path, monkeypatch):
    script = tmp_path / "beside_kernels.py"
    script.write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
        "def fill(x_ptr, n, by, BLOCK: tl.constexpr):\n"
        "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(x_ptr + at, by, mask=at < n)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import beside_kernels

    def tuner(*times):
        bench = Bench(*times)
        configs = [triton.Config({"BLOCK": block}) for block in (16, 32)]
        return triton.autotune(configs, key=["n"], do_bench=bench)(beside_kernels.fill)

    with knobs.autotuning.scope():
        knobs.autotuning.lock = str(tmp_path / "triton.lock")
        launch(tuner(2.0, 1.0))
    assert launch(tuner()) == 32
    before = (tmp_path / "triton.lock").read_text()
    assert launch(tuner(1.0, 2.0), n=77) == 16
    assert (tmp_path / "triton.lock").read_text() == before  # it is only read


@pytest.mark.parametrize("how", ["load_pack", "TRITON_PACKS"])
def test_the_lock_of_a_pack_is_read_after_files(lock, tmp_path, how):
    launch(tuned(3.0, 2.0, 1.0)[0])
    pack = tmp_path / "kernels.pack"
    pack.write_bytes(libtriton.write_pack([], packs.version(), lock.read_text()))
    lock.unlink()
    with knobs.cache.scope():
        opened = triton.load_pack(pack) if how == "load_pack" else None
        knobs.cache.packs = str(pack) if how == "TRITON_PACKS" else None
        assert launch(tuned()[0]) == 64
        launch(tuned(1.0, 2.0, 3.0)[0], n=50)
        assert launch(tuned()[0]) == 64
        (line,) = lock.read_text().splitlines()
        lock.write_text(line.replace("[50,", "[100,") + "\n")
        assert launch(tuned()[0]) == 16
        if opened is not None:
            opened.close()
    packs.use_configured()
    lock.unlink()
    assert launch(tuned(1.0, 2.0, 3.0)[0]) == 16


# --- What does not fit ---------------------------------------------------------------------------


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in caught]


def test_another_source_is_ignored_and_replaced(lock):
    launch(tuned(3.0, 2.0, 1.0)[0])
    line_of(lock, source="0123456789abcdef")
    texts = warned(lambda: launch(tuned(1.0, 2.0, 3.0)[0]))
    assert texts == [
        f"{lock}:1: the decision for `test_lock_files:shift_kernel` is ignored: the kernel's source has changed "
        f"(0123456789abcdef, now {shift_kernel.cache_key[:16]})"
    ]
    assert json.loads(lock.read_text())["config"]["BLOCK"] == 16


def test_a_configuration_that_is_no_longer_there_is_ignored_and_replaced(lock):
    launch(tuned(3.0, 2.0, 1.0)[0])
    (text,) = warned(lambda: launch(tuned(1.0, 2.0, blocks=(16, 32))[0]))
    assert text.startswith(f"{lock}:1: ") and "its configuration is none of the 2" in text
    assert json.loads(lock.read_text())["config"]["BLOCK"] == 16


def test_an_unknown_parameter_is_named(lock):
    launch(tuned(3.0, 2.0, 1.0)[0])
    config = json.loads(lock.read_text())["config"]
    line_of(lock, config={**config, "BLOKC": 1})
    (text,) = warned(lambda: launch(tuned(1.0, 2.0, 3.0)[0]))
    assert text.startswith(f"{lock}:1: ") and "`BLOKC`; did you mean `BLOCK`?" in text


def test_an_unknown_field_is_named_and_kept(lock):
    launch(tuned(3.0, 2.0, 1.0)[0])
    line_of(lock, colour="red")
    (text,) = warned(lambda: launch(tuned()[0]))
    assert text == f"{lock}:1: unknown fields, which are kept: `colour`"
    launch(tuned(1.0, 2.0, 3.0)[0], n=50)
    assert [json.loads(line).get("colour") for line in lock.read_text().splitlines()] == [
        "red",
        None,
    ]


def test_an_unknown_kernel_of_the_same_module_is_named(lock):
    launch(tuned(3.0, 2.0, 1.0)[0])
    good = lock.read_text()
    line_of(lock, kernel="test_lock_files:gone")
    lock.write_text(good + lock.read_text())
    (text,) = warned(lambda: launch(tuned()[0]))
    assert text == (
        f"{lock}:2: the decision for `test_lock_files:gone` is ignored: module `test_lock_files` has no kernel `gone`"
    )


BAD_LINES = {
    "not JSON": ("BLOCK: 16", "Expecting value"),
    "a number": ("17", "it must be a JSON object"),
    "no kernel": ('{"arch": "cpu:x", "class": [], "config": {}, "source": "0"}', "`kernel` is missing"),
    "a class that is no list": (
        '{"arch": "cpu:x", "class": 1, "config": {}, "kernel": "m:k", "source": "0"}',
        "`class` must be a list, not 1",
    ),
    "a time that is no number": (
        '{"arch": "cpu:x", "class": [], "config": {}, "kernel": "m:k", "ms": "1", "source": "0"}',
        "`ms` must be a number",
    ),
    "nested deeply": ("[" * 100000, "nested too deeply"),
    "an infinity": ('{"ms": Infinity}', "Infinity is not JSON"),
    "a number too large": ('{"ms": 1e999}', "1e999 is too large for a number"),
    "a conflict": ("<<<<<<< HEAD", "a conflict of git; resolve it by: python -m nereid lock merge"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_is_named_and_the_others_count(lock, kind):
    launch(tuned(3.0, 2.0, 1.0)[0])
    text, reason = BAD_LINES[kind]
    lock.write_text(lock.read_text() + text + "\n")
    texts = warned(lambda: launch(tuned()[0]))
    assert len(texts) == 1 and texts[0].startswith(f"{lock}:2: ") and reason in texts[0]


def test_a_file_with_a_bad_line_is_not_written(lock):
    lock.write_text("mine\n")
    texts = warned(lambda: launch(tuned(3.0, 2.0, 1.0)[0]))
    assert lock.read_text() == "mine\n"
    assert any(
        text.startswith(f"nothing is written to {lock} before it is mended") for text in texts
    )


def test_bytes_that_are_no_text(lock):
    lock.write_bytes(bytes(range(256)) * 20)
    texts = warned(lambda: launch(tuned(3.0, 2.0, 1.0)[0]))
    assert texts[5].startswith(f"{lock} has 16 more such lines; python -m nereid lock check")


def test_damaged_files_never_raise_and_choose_nothing_else(lock):
    launch(tuned(3.0, 2.0, 1.0)[0])
    launch(tuned(3.0, 2.0, 1.0)[0], n=50)
    good = lock.read_bytes()
    tuner, _ = tuned()
    tuner.nargs = {"x_ptr": np.zeros(100, np.float32), "n": 100}
    key = tuner._key_of({})
    chance = random.Random(0)
    found = 0
    for _ in range(1000):
        content = bytearray(good)
        for _ in range(chance.randrange(1, 4)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        lock.write_bytes(bytes(content[: chance.randrange(len(content))]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            config = decisions.find(tuner, key, tuner.configs)
        assert config is None or config in tuner.configs
        found += config is not None
    assert 10 < found < 900


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file(lock, kind):
    lock.mkdir() if kind == "folder" else os.mkfifo(lock)
    (text, *_) = warned(lambda: launch(tuned(3.0, 2.0, 1.0)[0]))
    assert text.startswith(f"{lock}: cannot be read: ")


def test_a_lock_in_a_folder_that_is_not_there(tmp_path):
    warn_once.cache_clear()
    with knobs.autotuning.scope():
        knobs.autotuning.lock = str(tmp_path / "none" / "triton.lock")
        (text,) = warned(lambda: launch(tuned(3.0, 2.0, 1.0)[0]))
    assert "triton.lock cannot be used: No such file or directory; this process tunes" in text


def test_hooks_of_the_configuration_are_kept(lock):
    called = []

    def tuner(*times):
        configs = [
            triton.Config({"BLOCK": block}, pre_hook=lambda args: called.append(args["BLOCK"]))
            for block in (16, 32)
        ]
        return triton.autotune(configs, key=["n"], do_bench=Bench(*times))(shift_kernel)

    launch(tuner(2.0, 1.0))
    called.clear()
    assert launch(tuner()) == 32 and called == [32]


def test_the_text_of_values():
    class Colour(int):
        pass

    values = [None, True, Colour(3), 0.5, float("inf"), "a", (1, [2]), np.float32, tl.constexpr(4)]
    assert lock_file.plain(values) == [
        None, True, 3, 0.5, "inf", "a", [1, [2]], "<class 'numpy.float32'>", 4,
    ]  # fmt: skip


# --- The command ---------------------------------------------------------------------------------


def decision(block, ms, source="0" * 16, key=(100,), kernel="m:k"):
    return lock_file.Decision(kernel, "cuda:90", tuple(key), {"BLOCK": block}, source, ms)


def file_of(path, *lines):
    path.write_text(
        "".join(line if isinstance(line, str) else line.line() + "\n" for line in lines)
    )
    return str(path)


def test_print(tmp_path, capsys):
    name = file_of(tmp_path / "a", decision(16, 0.5), decision(32, 1.0, key=(7, "fp16")))
    assert lock_tool.main(["print", name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["kernel", "arch", "class", "configuration", "time", "source"]
    assert lines[1].split() == ["m:k", "cuda:90", "100", "BLOCK=16", "0.5", "ms", "0" * 16]
    assert lines[2].split()[2:5] == ["7", "fp16", "BLOCK=32"]


def test_merge_takes_the_faster_and_names_the_conflict(tmp_path, capsys):
    one = file_of(tmp_path / "a", decision(16, 0.5), decision(16, 1.0, key=(7,)))
    two = file_of(tmp_path / "b", decision(32, 0.7), decision(16, 2.0, key=(7,)))
    assert lock_tool.main(["merge", one, two, "-o", str(tmp_path / "c")]) == 0
    assert (tmp_path / "c").read_text() == (tmp_path / "a").read_text()
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f'm:k cuda:90 [100]: {one}:1 {{"BLOCK": 16}} in 0.5 ms, {two}:1 {{"BLOCK": 32}} in 0.7 ms: {one}:1 is kept, '
        "the faster one"
    )


def test_merge_takes_the_later_file_where_sources_differ(tmp_path, capsys):
    one = file_of(tmp_path / "a", decision(16, 0.5))
    two = file_of(tmp_path / "b", decision(32, 0.7, source="1" * 16))
    assert lock_tool.main(["merge", one, two, "-o", "-"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["config"] == {"BLOCK": 32}
    assert f"{two}:1 is kept, of the later file, whose source differs" in output.err


def test_merge_resolves_a_conflict_of_git_without_the_ancestor(tmp_path, capsys):
    name = file_of(
        tmp_path / "a",
        "<<<<<<< HEAD\n", decision(16, 0.5),
        "||||||| base\n", decision(64, 0.1),
        "=======\n", decision(32, 0.4), decision(8, 1.0, kernel="a:b"),
        ">>>>>>> other\n",
    )  # fmt: skip
    assert lock_tool.main(["merge", name, "-o", name]) == 0
    lines = [json.loads(line) for line in (tmp_path / "a").read_text().splitlines()]
    assert [(line["kernel"], line["config"]["BLOCK"]) for line in lines] == [
        ("a:b", 8),
        ("m:k", 32),
    ]


def test_merge_writes_nothing_where_a_line_is_bad(tmp_path, capsys):
    name = file_of(tmp_path / "a", "bad\n", decision(16, 0.5))
    assert lock_tool.main(["merge", name, "-o", name]) == 1
    assert (tmp_path / "a").read_text().startswith("bad\n")
    assert f"{name}:1: the line is no decision" in capsys.readouterr().err


def test_check_finds_lines_twice(tmp_path, capsys):
    name = file_of(tmp_path / "a", decision(16, 0.5), decision(32, 0.7))
    assert lock_tool.main(["check", name]) == 1
    assert f"{name}:2: the same kernel, arch and class as {name}:1; {name}:1 counts" in (
        capsys.readouterr().out
    )


def test_check_finds_lines_that_are_not_in_order(tmp_path, capsys):
    name = file_of(tmp_path / "a", decision(16, 0.5, kernel="z:k"), decision(32, 0.7))
    assert lock_tool.main(["check", name]) == 1
    assert f"{name}: not in order" in capsys.readouterr().out
    lock_tool.main(["merge", name, "-o", name])
    assert lock_tool.main(["check", name]) == 0


MODULE = """
import triton
import triton.language as tl

@triton.autotune([triton.Config({"BLOCK": block}) for block in (16, 32)], key=["n"])
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, n)
"""


def test_check_compares_with_installed_kernels(tmp_path, monkeypatch, capsys):
    (tmp_path / "checked_kernels.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    import checked_kernels

    source = checked_kernels.kernel.fn.cache_key[:16]
    good = {"BLOCK": 16, "num_ctas": 1, "num_stages": 3, "num_warps": 4}

    def line(kernel, config=good, source=source):
        return lock_file.Decision(kernel, "cuda:90", (), config, source, 1.0)

    lines = [
        line("checked_kernels:gone"),
        line("checked_kernels:kernel"),
        line("checked_nowhere:kernel"),
    ]
    name = file_of(tmp_path / "a", *lines)
    assert lock_tool.main(["check", "--import", name]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{name}:1: module `checked_kernels` has no kernel `gone`",
        f"{name}:3: module `checked_nowhere` cannot be imported: ModuleNotFoundError: No module named 'checked_nowhere'",
        "3 decisions, compared with the installed kernels, 2 problems",
    ]
    name = file_of(tmp_path / "b", line("checked_kernels:kernel", source="0" * 16))
    assert lock_tool.main(["check", "--import", name]) == 1
    assert f"{name}:1: the kernel's source has changed" in capsys.readouterr().out
    name = file_of(tmp_path / "c", line("checked_kernels:kernel", config={**good, "BLOCK": 64}))
    assert lock_tool.main(["check", "--import", name]) == 1
    assert f"{name}:1: its configuration is none of the 2" in capsys.readouterr().out


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SystemExit, match="there is no such file"):
        lock_tool.main(["check", str(tmp_path / "none")])
