"""Makes a folder that programs link against to run on an older glibc: its libraries as lists of symbols, its start files.

usage: glibc_stubs.py FOLDER VERSION   (VERSION such as 2.28; the package ziglang must be installed)

ziglang contains the symbols of every glibc. Linking a small program makes it write stubs to its cache, which are copied
from there. The linker then sees only that glibc's symbols; a program is still compiled with the host's headers.
"""
# SPDX-License-Identifier: MIT

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Each library by its -l name; libc_nonshared.a has the parts of glibc that are always linked statically.
LIBRARIES = {
    "dl": "libdl.so.2",
    "m": "libm.so.6",
    "pthread": "libpthread.so.0",
    "rt": "librt.so.1",
    "util": "libutil.so.1",
}


def zig_files(work: Path, version: str) -> Path:
    """Links a program for the glibc `version` and returns zig's cache, which then contains the
    stubs.
    """
    cache = work / "cache"
    (work / "main.c").write_text("int main(void) { return 0; }\n")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", f"x86_64-linux-gnu.{version}"]
    command += ["-fno-sanitize=all", "-O1", "-o", str(work / "main"), str(work / "main.c")]
    cache_dirs = {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
    subprocess.run(command, env={**os.environ, **cache_dirs}, check=True)
    return cache


def take(cache: Path, name: str, target: Path) -> None:
    found = sorted(cache.rglob(name))
    if not found:
        sys.exit(f"glibc_stubs: ziglang made no {name}")
    shutil.copyfile(found[0], target)


def make(folder: Path, version: str) -> None:
    with tempfile.TemporaryDirectory() as work:
        cache = zig_files(Path(work), version)
        take(cache, "libc.so.6", folder / "libc.so.6")
        take(cache, "libc_nonshared.a", folder / "libc_nonshared.a")
        take(cache, "libld.so.2", folder / "ld-linux-x86-64.so.2")
        for short, name in LIBRARIES.items():
            take(cache, name, folder / name)
            (folder / f"lib{short}.so").symlink_to(name)
        for name in ("crt1.o", "Scrt1.o"):  # one file serves programs of both kinds
            take(cache, "crt1.o", folder / name)
    parts = [folder / name for name in ("libc.so.6", "libc_nonshared.a", "ld-linux-x86-64.so.2")]
    # As glibc's own libc.so: the library, its static part, the loader if needed.
    (folder / "libc.so").write_text("GROUP ( {} {} AS_NEEDED ( {} ) )\n".format(*parts))


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder = Path(sys.argv[1]).resolve()
    unfinished = folder.with_name(folder.name + ".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.mkdir(parents=True)
    make(unfinished, sys.argv[2])
    unfinished.rename(folder)
    script = folder / "libc.so"
    script.write_text(script.read_text().replace(str(unfinished), str(folder)))


if __name__ == "__main__":
    main()
