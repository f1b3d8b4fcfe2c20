"""The line on stderr about what takes long: it fits into a row, and its thread is not needed."""
# SPDX-License-Identifier: MIT

import io
import threading
import time

import pytest
from triton.runtime.progress import Progress, bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal_of(monkeypatch):
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setenv("TRITON_PROGRESS", "on")
    monkeypatch.setenv("TERM", "xterm")
    return shown


@pytest.mark.parametrize("columns, width", [(40, 39), (1, 1)])
def test_a_long_line_fits_into_a_row(monkeypatch, columns, width):
    terminal, deadline = terminal_of(monkeypatch), time.monotonic() + 10
    monkeypatch.setenv("COLUMNS", str(columns))
    with Progress("tuning " + "x" * 100, patience=0.0):
        while "\x1b" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.005)
    assert terminal.getvalue().split("\x1b")[0] == "\r" + ("triton: tuning " + "x" * 100)[:width]


@pytest.mark.parametrize("term", ["dumb", None])
def test_no_escape_codes_where_none_are_understood(monkeypatch, term):
    terminal, deadline = terminal_of(monkeypatch), time.monotonic() + 10
    if term is None:
        monkeypatch.delenv("TERM")
    else:
        monkeypatch.setenv("TERM", term)
    with Progress("tuning", patience=0.0):
        while "\n" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.005)
    assert terminal.getvalue() == "triton: tuning, 0 s\n"


def test_a_terminal_shows_a_bar(monkeypatch):
    terminal, deadline = terminal_of(monkeypatch), time.monotonic() + 10
    with Progress("tuning", patience=0.05) as progress:
        progress.step(", configuration 2 of 4", bar(1, 4))
        while "\x1b" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.005)
    line = terminal.getvalue().split("\x1b")[0]
    assert line == "\r[#####               ] triton: tuning, configuration 2 of 4, 0 s"


def test_work_goes_on_where_no_thread_starts(monkeypatch):
    terminal = terminal_of(monkeypatch)

    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with Progress("tuning", patience=0.0) as progress:
        progress.step(", configuration 1")
    assert terminal.getvalue() == ""
