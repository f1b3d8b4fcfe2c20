"""A ptxas that does not end by itself: it ends with its parent, on an interrupt and at its time limit."""
# SPDX-License-Identifier: MIT

import os
import signal
import subprocess
import sys
import time

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.assembler import find_assembler
from triton.compiler import ASTSource
from triton.runtime.errors import PTXASError

SCRIPT = """
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def kernel(out):
    tl.store(out, 1)

{call}
"""
CALL = (
    'triton.compile(ASTSource(kernel, signature={"out": "*i32"}), target=GPUTarget("cuda", 90, 32))'
)


@triton.jit
def kernel(out):
    tl.store(out, 1)


def stand_in(folder, body):
    """A program in place of ptxas that writes its id to a file beside it."""
    program = folder / "ptxas"
    program.write_text(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'release 97.2, V97'; exit 0; fi\n"
        f"echo $$ > {folder}/pid.new; mv {folder}/pid.new {folder}/pid\n{body}\n"
    )
    program.chmod(0o755)
    return str(program)


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(pid):
    """Whether there is such a process that has not ended yet."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except OSError:
        return False


def compiling(folder, program, call=CALL):
    """A process that compiles, and the id of the stub that it waits for."""
    script = folder / "script.py"
    script.write_text(SCRIPT.format(call=call))
    environment = {
        **os.environ,
        "TRITON_PTXAS_PATH": program,
        "TRITON_CACHE_DIR": str(folder / "cache"),
    }
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        env=environment,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_for((folder / "pid").exists)
    return parent, int((folder / "pid").read_text())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_assembler_ends_with_its_parent(tmp_path, number):
    parent, child = compiling(tmp_path, stand_in(tmp_path, "exec sleep 100"))
    assert is_running(child)
    parent.send_signal(number)
    parent.communicate()
    wait_for(lambda: not is_running(child), 10)


def test_a_thread_that_compiles_takes_its_assembler_along(tmp_path):
    """The death signal of the kernel follows the thread that started the child, not the one that requested it."""
    call = f"import threading\nthread = threading.Thread(target=lambda: {CALL})\nthread.start()\nthread.join()"
    parent, child = compiling(tmp_path, stand_in(tmp_path, "exec sleep 100"), call)
    time.sleep(0.3)
    assert is_running(child)
    parent.kill()
    parent.communicate()
    wait_for(lambda: not is_running(child), 10)


def test_an_interrupt_ends_the_assembler_and_what_it_has_started(tmp_path):
    body = f"sleep 100 & echo $! > {tmp_path}/inner.new; mv {tmp_path}/inner.new {tmp_path}/inner; wait"
    call = (
        "import os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"try:\n    {CALL}\nexcept KeyboardInterrupt:\n    input()\n    os._exit(7)"
    )
    parent, child = compiling(tmp_path, stand_in(tmp_path, body), call)
    wait_for((tmp_path / "inner").exists)
    inner = int((tmp_path / "inner").read_text())
    assert is_running(inner)
    parent.send_signal(signal.SIGINT)
    wait_for(lambda: not is_running(child) and not is_running(inner), 10)
    parent.communicate(b"\n")
    assert parent.returncode == 7


def compile_kernel():
    source = ASTSource(kernel, signature={"out": "*i32"})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32))


def test_a_limit_of_time_names_the_kernel_and_what_would_help(tmp_path, nvidia):
    nvidia.ptxas, nvidia.ptxas_timeout = stand_in(tmp_path, "exec sleep 100"), 1
    started = time.monotonic()
    with pytest.raises(PTXASError) as error:
        compile_kernel()
    assert time.monotonic() - started < 30
    for text in ("had not finished `kernel` after 1 s", "ptxas_timeout", "[assembler-timeout]"):
        assert text in str(error.value)
    assert not is_running(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "echo 'ptxas fatal   : Value wrong'; exit 255",
            "rejects the code generated for this: Value wrong [assembler-refused]",
        ),
        ("kill -11 $$", "was ended by signal 11"),
    ],
)
def test_refusals_and_crashes_are_ptxas_errors(tmp_path, nvidia, body, text):
    nvidia.ptxas = stand_in(tmp_path, body)
    with pytest.raises(PTXASError) as error:
        compile_kernel()
    assert text in str(error.value)


def test_serialised_wgmma_instructions_are_remarked(tmp_path, nvidia, capfd):
    note = (
        "(C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to x"
    )
    nvidia.ptxas = stand_in(tmp_path, f"cat /proc/self/fd/3 >&4; echo 'ptxas info : {note}'")
    compile_kernel()
    remark = capfd.readouterr().err
    assert f"the assembler serialises wgmma instructions: {note} [wgmma-serialised]" in remark


@pytest.mark.full
def test_a_slow_assembly_is_remarked(tmp_path, nvidia, capfd):
    assembler = find_assembler(90).ptxas
    if not assembler:
        pytest.skip("no ptxas here")
    nvidia.ptxas = stand_in(tmp_path, f'sleep 15.6; exec {assembler} "$@"')
    compile_kernel()
    remark = capfd.readouterr().err
    assert (
        "remark: the assembler took 16 s for `kernel`, with " in remark
        and "[slow-assembly]" in remark
    )
