"""The process around kernels: crashes, re-entrant arguments, subinterpreters, paths, a missing /proc, debuggers."""
# SPDX-License-Identifier: MIT

import ctypes
import importlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import triton
import triton.language as tl

pytestmark = pytest.mark.usefixtures("cpu_is_active")

PRELUDE = """
import os, sys
import numpy as np
import triton
import triton.language as tl

@triton.jit
def add_one(x, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(x + at, tl.exp(tl.load(x + at)) + 1)

def launch(kernel=add_one):
    x = np.zeros(16, np.float32)
    kernel[(1,)](x, B=16)
    assert (x == 2).all()
"""


def run(text, tmp_path, command=(), path=None, **settings):
    """Runs a program in a process of its own, from a file, as kernels need."""
    path = path or os.fsencode(tmp_path / "program.py")
    with open(path, "w") as file:
        file.write(PRELUDE + textwrap.dedent(text))
    environment = {os.fsencode(name): os.fsencode(value) for name, value in os.environ.items()}
    environment[b"TRITON_CACHE_DIR"] = os.fsencode(tmp_path / "cache")
    environment[b"TRITON_DEVICE"] = b"cpu"  # the arrays are NumPy's, also on a machine with a GPU
    environment.update({name.encode(): os.fsencode(value) for name, value in settings.items()})
    return subprocess.run(
        [*command, sys.executable, path],
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )


def succeeds(*args, **keywords):
    done = run(*args, **keywords)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


# --- Crashes -----------------------------------------------------------------------------------------

CRASH = """
@triton.jit
def reads_nowhere(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), tl.load(x + 4000000000 + tl.arange(0, B)) + 1)

x = np.zeros(16, np.float32)
"""


def test_a_crash_names_the_kernel(tmp_path):
    done = run(CRASH + "reads_nowhere[(1,)](x, B=16)", tmp_path)
    assert done.returncode == -signal.SIGSEGV
    assert "nereid: kernel `reads_nowhere` crashed on the CPU (SIGSEGV at address 0x" in done.stderr
    assert "TRITON_SANITIZE=bounds" in done.stderr


def test_an_address_that_nobody_tells_is_not_printed(tmp_path):
    """Those that no process can have: the processor's exception holds none."""
    text = CRASH.replace("4000000000 +", "(1 << 50) +")
    done = run(text + "reads_nowhere[(1,)](x, B=16)", tmp_path)
    assert done.returncode in (-signal.SIGSEGV, -signal.SIGBUS)
    assert "kernel `reads_nowhere` crashed on the CPU (SIG" in done.stderr
    assert "at address" not in done.stderr


def test_a_crash_on_a_helping_thread_names_the_kernel(tmp_path):
    text = """
    import threading
    thread = threading.Thread(target=lambda: reads_nowhere[(64,)](x, B=16))
    thread.start(); thread.join()
    """
    assert "kernel `reads_nowhere` crashed" in run(CRASH + textwrap.dedent(text), tmp_path).stderr


@pytest.mark.parametrize(
    "order", ["launch(); faulthandler.enable()", "faulthandler.enable(); launch()"]
)
def test_faulthandler_still_prints(tmp_path, order):
    done = run(CRASH + f"import faulthandler; {order}\nreads_nowhere[(1,)](x, B=16)", tmp_path)
    assert done.returncode == -signal.SIGSEGV
    assert (
        "Fatal Python error: Segmentation fault" in done.stderr
        and "`reads_nowhere` crashed" in done.stderr
    )


def test_a_handler_of_the_program_is_called(tmp_path):
    text = """
    import ctypes
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: os._exit(40 + number))
    ctypes.CDLL(None).signal(11, handler)
    reads_nowhere[(1,)](x, B=16)
    """
    done = run(CRASH + textwrap.dedent(text), tmp_path)
    assert done.returncode == 40 + signal.SIGSEGV and "`reads_nowhere` crashed" in done.stderr


def test_other_crashes_name_no_kernel(tmp_path):
    done = run("launch(); import ctypes; ctypes.string_at(8)", tmp_path)
    assert done.returncode == -signal.SIGSEGV and "nereid" not in done.stderr
    done = run("launch(); os.kill(os.getpid(), 11)", tmp_path)
    assert done.returncode == -signal.SIGSEGV and "nereid" not in done.stderr
    done = run("launch(); os.abort()", tmp_path)
    assert done.returncode == -signal.SIGABRT and "nereid" not in done.stderr


def test_a_damaged_heap_names_the_latest_kernels(tmp_path):
    text = """
    import ctypes
    launch()
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    memory = libc.malloc(40)
    ctypes.c_uint64.from_address(memory - 8).value = 0xffffffffffff0
    libc.free(ctypes.c_void_p(memory))
    """
    done = run(text, tmp_path)
    assert done.returncode == -signal.SIGABRT
    assert "the heap is damaged; the latest kernels on the CPU were `add_one`" in done.stderr


# --- Arguments whose methods run code ----------------------------------------------------------------


@triton.jit
def increment(x, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(x + at, tl.load(x + at) + 1)


class Device:
    def __init__(self, index, kind="cpu"):
        self.index, self.type = index, kind


class Pointer:
    """An array whose `data_ptr` does what a test asks for."""

    dtype = "float32"

    def __init__(self, action=lambda: None):
        self.array, self.action = np.zeros(16, np.float32), action

    def data_ptr(self):
        self.action()
        return self.array.ctypes.data


def clear_caches():
    increment._c_clear()
    increment.device_caches.clear()


@pytest.mark.parametrize(
    "action", [clear_caches, lambda: increment[(1,)](np.zeros(16, np.float32), B=16)]
)
def test_data_ptr_may_launch_and_clear(action):
    x = Pointer(action)
    for _ in range(4):
        increment[(1,)](x, B=16)
    assert (x.array == 4).all()


def test_endless_re_entry_ends(tmp_path):
    text = """
    class Pointer:
        dtype = "float32"
        def data_ptr(self):
            return add_one[(1,)](self, B=16)
    try:
        add_one[(1,)](Pointer(), B=16)
    except RecursionError:
        launch()
        print("ended")
    """
    assert "ended" in succeeds(text, tmp_path).stdout


def test_an_interrupt_in_data_ptr_is_raised_once():
    calls = []

    def interrupt():
        calls.append(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        increment[(1,)](Pointer(interrupt), B=16)
    assert len(calls) == 1


@pytest.mark.parametrize("index", [2**70, -(2**70), 2**31, 2**32, -2, -5])
@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_the_index_of_no_device_is_refused(index, kind):
    x = Pointer()
    x.device = Device(index, kind)
    with pytest.raises(ValueError, match="which no device has"):
        increment[(1,)](x, B=16)


@pytest.mark.parametrize("index", [None, -1, 0, True, "x", 1.5])
def test_other_indices_of_a_cpu_do_not_matter(index):
    x = Pointer()
    x.device = Device(index)
    increment[(1,)](x, B=16)
    assert (x.array == 1).all()


# --- Interpreters and modules ------------------------------------------------------------------------

SUBINTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
launch()
other = interpreters.create()
text = "import sys; sys.path[:] = %r\\ntry:\\n import triton\\nexcept ImportError as e:\\n assert 'main interpreter' in str(e), e\\nelse:\\n raise AssertionError\\n" % sys.path
failure = (interpreters.run_string if hasattr(interpreters, "run_string") else interpreters.exec)(other, text)
assert failure is None, failure
launch(); add_one._c_clear(); add_one.device_caches.clear(); launch()
interpreters.destroy(other)
launch()
"""


def test_a_subinterpreter_is_refused_and_the_main_one_goes_on(tmp_path):
    succeeds(SUBINTERPRETER, tmp_path)


DROP = """
launch()
old = add_one
for name in [n for n in sys.modules if {which}]:
    del sys.modules[name]
import triton, triton.language as tl, triton.testing

@triton.jit
def again(x, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(x + at, tl.exp(tl.load(x + at)) + 1)

launch(again); launch(old)
assert triton is sys.modules["triton"]
"""


@pytest.mark.parametrize(
    "which",
    [
        'n.startswith("triton")',
        'n == "triton"',
        'n.startswith("triton._C")',
        'n.startswith("triton.runtime")',
    ],
)
def test_dropped_modules_are_imported_again(tmp_path, which):
    succeeds(DROP.format(which=which), tmp_path)


def test_the_package_may_be_reloaded():
    importlib.reload(triton)
    test_data_ptr_may_launch_and_clear(lambda: None)


# --- Files -------------------------------------------------------------------------------------------

ODD = b"\xff\xfe odd"
WORK = """
launch()
add_one._c_clear(); add_one.device_caches.clear(); launch()

@triton.jit
def wrong(x):
    tl.store(x, missing)

try:
    wrong[(1,)](np.zeros(1, np.float32))
except triton.CompilationError as error:
    assert "missing" in str(error) and str(error).encode()
else:
    raise AssertionError
"""


@pytest.mark.parametrize("variable", ["TRITON_CACHE_DIR", "TRITON_HOME", "HOME", "TMPDIR"])
def test_folders_need_not_be_utf8(tmp_path, variable):
    folder = os.path.join(os.fsencode(tmp_path), ODD)
    os.mkdir(folder)
    settings = {} if variable.startswith("TRITON_CACHE") else {"TRITON_CACHE_DIR": ""}
    succeeds(WORK, tmp_path, **settings, **{variable: folder})
    if variable != "TMPDIR":
        assert os.listdir(folder)


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_the_program_need_not_be_utf8(tmp_path, locale):
    folder = os.path.join(os.fsencode(tmp_path), ODD)
    os.mkdir(folder)
    succeeds(
        WORK, tmp_path, path=os.path.join(folder, b"program.py"), LC_ALL=locale, PYTHONUTF8="0"
    )


needs_namespaces = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare"), reason="only root can hide /proc"
)


@needs_namespaces
def test_a_machine_without_proc(tmp_path):
    hide = [
        "unshare",
        "-m",
        "sh",
        "-c",
        'mount -t tmpfs none /proc && test ! -e /proc/self && exec "$0" "$@"',
    ]
    if subprocess.run([*hide, "true"], capture_output=True).returncode:
        pytest.skip("this machine lets nobody hide /proc")
    text = """
    launch()
    kernel = triton.compile(triton.compiler.ASTSource(add_one, {"x": "*fp32", "B": "constexpr"}, {"B": 16}))
    assert kernel.asm["so"]
    """
    succeeds(text, tmp_path, command=hide)


DEBUGGER = """
launch()
import subprocess
left = os.pipe()  # what a debugger's own descriptor of that number could be
done = subprocess.run(
    ["gdb", "-nx", "-batch", "-p", str(os.getpid()), "-ex", "info sharedlibrary"],
    capture_output=True, text=True, timeout=60,
)
print(done.stdout, done.stderr)
"""


def test_a_debugger_attaches(tmp_path):
    if not shutil.which("gdb"):
        pytest.skip("there is no gdb here")
    done = succeeds(DEBUGGER, tmp_path)
    if "ptrace" in done.stdout:
        pytest.skip("no process may be traced here")
    assert "libnereid" in done.stdout


def test_no_loaded_object_has_a_path_that_a_debugger_could_open():
    """What it would open is a descriptor of its own: it may be a pipe, on which it waits for ever."""
    increment[(1,)](np.zeros(16, np.float32), B=16)

    class Info(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("name", ctypes.c_char_p)]

    names = []
    visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Info), ctypes.c_size_t, ctypes.c_void_p)
    ctypes.CDLL(None).dl_iterate_phdr(
        visit(lambda info, size, data: names.append(info[0].name) or 0), None
    )
    kernels = [name.decode() for name in names if name.startswith(b"/proc/")]
    assert kernels
    look = "import os, sys; print([name for name in sys.argv[1:] if os.path.exists(name)])"
    done = subprocess.run(
        [sys.executable, "-c", look, *kernels], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


# --- Threads at the end ------------------------------------------------------------------------------

DAEMONS = """
import threading, time

def work():
    for round in range(10**9):
        launch()
        if round % 50 == 0:
            add_one._c_clear(); add_one.device_caches.clear()

launch()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep({seconds})
"""


@pytest.mark.parametrize("seconds", [0, 0.05, 0.2, 0.5])
def test_daemon_threads_launch_until_the_end(tmp_path, seconds):
    done = succeeds(DAEMONS.format(seconds=seconds), tmp_path)
    assert not done.stderr


def test_no_descriptors_for_the_linker(tmp_path):
    text = """
    import resource
    triton.runtime.driver.set_active_to_cpu()
    triton.compile(triton.compiler.ASTSource(add_one, {"x": "*fp32", "B": "constexpr"}, {"B": 64}))  # reads files
    source = triton.compiler.ASTSource(add_one, {"x": "*fp32", "B": "constexpr"}, {"B": 32})
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, before[1]))
    held = []
    try:
        while True:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    try:
        triton.compile(source)
    except Exception as error:
        message = str(error)
    for each in held:
        os.close(each)
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert "Too many open files" in message and "[linker-file]" in message, message
    assert triton.compile(source).name == "add_one"
    launch()
    """
    succeeds(text, tmp_path)
