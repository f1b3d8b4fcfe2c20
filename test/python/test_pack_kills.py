"""A process that is killed while it writes a file leaves the old one or the new one, never a part, and no litter."""
# SPDX-License-Identifier: MIT

import os
import random
import signal
import time

import pytest
from triton.runtime import whole_file
from triton.runtime.whole_file import replace_file

SIZE = 2 << 20
KILLS = 100


def write_for_ever(path):
    number = 0
    while True:
        number += 1
        replace_file(path, bytes([number % 256]) * SIZE)


def test_a_killed_writer_leaves_a_whole_file(tmp_path):
    path = str(tmp_path / "some.pack")
    replace_file(path, b"\0" * SIZE)
    source = random.Random(1)
    for _ in range(KILLS):
        child = os.fork()
        if child == 0:
            write_for_ever(path)
        time.sleep(source.uniform(0.001, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with open(path, "rb") as file:
            content = file.read()
        assert len(content) == SIZE and content == content[:1] * SIZE
    left = len(os.listdir(tmp_path))
    assert left <= 2  # each writer removes what the one before it has left
    replace_file(path, b"last")
    assert os.listdir(tmp_path) == ["some.pack"]


def test_the_file_of_a_living_writer_stays(tmp_path):
    path = str(tmp_path / "some.pack")
    temporary, descriptor = whole_file._open_beside(str(tmp_path), "some.pack", 0o666)
    replace_file(path, b"content")
    assert os.path.exists(temporary)
    os.close(descriptor)
    replace_file(path, b"content")
    assert os.listdir(tmp_path) == ["some.pack"]


def test_files_of_other_names_stay(tmp_path):
    for name in (".some.pack.old", "some.pack.new", ".other.0123456789abcdef.new"):
        (tmp_path / name).write_text("kept")
    replace_file(str(tmp_path / "some.pack"), b"content")
    assert len(os.listdir(tmp_path)) == 4


def test_without_locks_age_decides(tmp_path, monkeypatch):
    monkeypatch.setattr(whole_file, "_lock", lambda descriptor: None)
    old, new = tmp_path / ".some.pack.0.new", tmp_path / ".some.pack.1.new"
    for file in (old, new):
        file.write_text("")
    os.utime(old, (0, 0))
    replace_file(str(tmp_path / "some.pack"), b"content")
    assert sorted(os.listdir(tmp_path)) == [".some.pack.1.new", "some.pack"]


def test_long_names_of_any_script(tmp_path):
    path = str(tmp_path / ("核" * 80))
    replace_file(path, b"content", mode=0o600)
    assert os.listdir(tmp_path) == ["核" * 80] and os.stat(path).st_mode & 0o777 == 0o600


def test_the_file_of_a_failed_write_is_removed(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError):
        replace_file(str(path), b"content")
    assert os.listdir(tmp_path) == ["folder"]
