"""`nereid pack`: compiles the variants of records into a pack, a file of kernels; lists and checks packs."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
import os
import secrets
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .._C import libtriton
from ..runtime import packs
from ..runtime.errors import TritonError
from ..runtime.progress import Progress, bar
from ..runtime.variants import variant_record
from ..runtime.variants.recorded_kernels import variant_of
from ..runtime.variants.variant import Variant, target_of
from ..runtime.variants.variant_record import Entry
from ..runtime.whole_file import replace_file

_PATIENCE = 0.5  # seconds; who calls it expects to wait


class _Failure(Exception):
    """A text for the user."""


# --- Keys ----------------------------------------------------------------------------------------


def _read_seed(path: str) -> bytes:
    """A signing key is a file with 64 hexadecimal digits."""
    with open(path, encoding="ascii", errors="replace") as file:
        text = file.read(1024).strip()
    try:
        seed = bytes.fromhex(text)
    except ValueError:
        seed = b""
    if len(seed) != 32 or len(text) != 64:
        raise _Failure(
            f"{path}: a signing key has 64 hexadecimal digits; `nereid pack --new-key FILE` makes one"
        )
    return seed


def _make_key(path: str) -> int:
    """Prints the public key, in hex."""
    seed = secrets.token_bytes(32)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "w") as text:
        text.write(f"{seed.hex()}\n")
    print(libtriton.pack_public_key(seed))
    return 0


# --- Writing -------------------------------------------------------------------------------------


def _compile(variant: Variant) -> tuple[Any, str]:
    """A compiled kernel and the line of its record."""
    return variant.compile()._code, variant_record.line_of(variant)


def compile_entries(
    entries: list[Entry], targets: list[Any], workers: int | None = None
) -> tuple[list[tuple[Any, str]], list[str]]:
    """The kernels of the lines for each target, and what failed."""
    started: list[tuple[str, Any]] = []
    items, failures = [], []
    count = workers or len(os.sched_getaffinity(0))
    total = len(entries) * (len(targets) or 1)
    with ThreadPoolExecutor(count) as executor, Progress("packing", _PATIENCE) as progress:
        for entry in entries:
            for target in targets or [None]:
                shown = "" if target is None else f" for {target.backend}:{target.arch}"
                where = f"{entry.where}: {entry.kernel}{shown}"
                try:  # in one thread, since it imports modules
                    started.append((where, executor.submit(_compile, variant_of(entry, target))))
                except Exception as error:
                    failures.append(f"{where}: {error}")
        for done, (where, future) in enumerate(started):
            progress.step(f", {done} of {total} kernels", bar(done, total))
            try:
                items.append(future.result())
            except Exception as error:
                failures.append(f"{where}: {error}")
    return items, failures


def _pack(given: argparse.Namespace) -> int:
    targets = [target_of(name) for text in given.target for name in text.split(",") if name]
    seed = _read_seed(given.sign) if given.sign else b""
    lock = ""
    if given.lock:
        with open(given.lock, encoding="utf-8") as file:
            lock = file.read()
    entries = list(
        {entry.where: entry for path in given.files for entry in variant_record.read(path)}.values()
    )
    items, failures = compile_entries(entries, targets, given.jobs)
    for failure in failures:
        print(f"nereid pack: {failure}", file=sys.stderr)
    if failures and not given.keep_going:
        print(
            f"nereid pack: {given.output} is not written; --keep-going leaves out what does not compile",
            file=sys.stderr,
        )
        return 1
    replace_file(given.output, libtriton.write_pack(items, packs.version(), lock, seed))
    pack = packs.open_pack(given.output)
    size = os.path.getsize(given.output)
    print(f"{given.output}: {len(pack)} kernels for {', '.join(pack.targets())}, {size} bytes")
    return 0


# --- Reading -------------------------------------------------------------------------------------


def _list(given: argparse.Namespace) -> int:
    rows = [("kernel", "target", "abi", "bytes", "key", "signature")]
    for path in given.files:
        for entry in packs.open_pack(path, given.key):
            texts = (entry["name"], entry["target"], entry["abi"], str(entry["bytes"]))
            rows.append((*texts, entry["key"][:12], entry["signature"]))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        )
    return 0


def _verify(given: argparse.Namespace) -> int:
    status = 0
    for path in given.files:
        pack = packs.open_pack(path, given.key)
        damaged = 0
        for index in range(len(pack)):
            try:
                pack.artifact(index)
            except ValueError as error:
                print(error, file=sys.stderr)
                damaged += 1
        signed = "signed" if pack.is_signed else "not signed"
        if given.key:
            signed = f"signed by {given.key[:12]}..."
        elif pack.is_signed:
            signed += ", by a key that was not checked (--key)"
        print(f"{path}: {len(pack)} kernels, {damaged} damaged, {signed}")
        status |= bool(damaged)
    return status


# --- The command ---------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nereid pack", description=__doc__)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="records (TRITON_RECORD); of --list and --verify: packs",
    )
    parser.add_argument("-o", "--output", help="the pack to be written")
    parser.add_argument(
        "--target", action="append", default=[],
        help="targets such as cuda:90,cpu:x86-64-v3; by default those of the records",
    )  # fmt: skip
    parser.add_argument("--lock", help="a lock file that the pack shall contain")
    parser.add_argument("--sign", metavar="KEYFILE", help="signs the pack")
    parser.add_argument("--keep-going", action="store_true", help="leave out what does not compile")
    parser.add_argument("-j", "--jobs", type=int, help="compilations at the same time")
    parser.add_argument("--list", action="store_true", help="print the kernels of packs")
    parser.add_argument("--verify", action="store_true", help="check each kernel of packs")
    parser.add_argument("--key", help="the public key that must have signed them")
    parser.add_argument(
        "--new-key", metavar="KEYFILE", help="write a new signing key; print its public key"
    )
    return parser


def _run(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    if given.new_key:
        return _make_key(given.new_key)
    if not given.files:
        parser.error("no file is given")
    if given.list:
        return _list(given)
    if given.verify:
        return _verify(given)
    if not given.output:
        parser.error("-o FILE is wanted")
    return _pack(given)


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        return _run(given, parser)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        print(f"nereid pack: {name}{error.strerror or error}", file=sys.stderr)
    except (TritonError, ValueError, _Failure) as error:
        print(f"nereid pack: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
