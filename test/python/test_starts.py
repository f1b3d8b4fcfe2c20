"""What a process pays before its first result: modules, and memory that belongs to each thread."""
# SPDX-License-Identifier: MIT

import struct
import subprocess
import sys

PT_TLS = 7


def thread_local_bytes(path):
    """Those of the segment that a 64-bit ELF file has for them."""
    with open(path, "rb") as file:
        header = file.read(64)
        (table,) = struct.unpack_from("<Q", header, 32)
        size, count = struct.unpack_from("<HH", header, 54)
        file.seek(table)
        for _ in range(count):
            entry = file.read(size)
            if struct.unpack_from("<I", entry)[0] == PT_TLS:
                return struct.unpack_from("<Q", entry, 40)[0]
    return 0


def loaded_libraries():
    with open("/proc/self/maps") as maps:
        words = [line.split() for line in maps]
    return {line[5] for line in words if len(line) == 6}


def test_a_thread_has_little_memory_of_its_own():
    """Each thread of the process has it, the program's own and torch's included."""
    import triton  # noqa: F401

    (path,) = [path for path in loaded_libraries() if path.endswith("/libnereid.so")]
    assert 0 < thread_local_bytes(path) < 4096


def test_a_first_launch_loads_no_openssl(tmp_path):
    (tmp_path / "program.py").write_text("""
import sys
import numpy as np

before = set(sys.modules)
import triton
import triton.language as tl


@triton.jit
def add(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)


triton.runtime.driver.set_active_to_cpu()
x = np.zeros(64, np.float32)
add[(1,)](x, 60, BLOCK=64)
assert x.sum() == 60
costly = {"_hashlib", "_lzma", "_bz2", "json", "torch", "concurrent.futures", "importlib.metadata"}
print(sorted(costly & (set(sys.modules) - before)))
""")
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True)  # fmt: skip
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stdout + done.stderr
