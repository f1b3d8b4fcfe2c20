"""A process that is killed while it writes a pack leaves the old file or the new one, never a part."""
# SPDX-License-Identifier: MIT

import os
import random
import signal
import time

import pytest
from triton.tools.pack import write_file

SIZE = 2 << 20
KILLS = 100


def write_for_ever(path):
    number = 0
    while True:
        number += 1
        write_file(path, bytes([number % 256]) * SIZE)


def test_a_killed_writer_leaves_a_whole_file(tmp_path):
    path = str(tmp_path / "some.pack")
    write_file(path, b"\0" * SIZE)
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


def test_the_file_of_a_failed_write_is_removed(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError):
        write_file(str(path), b"content")
    assert os.listdir(tmp_path) == ["folder"]
