"""The part of `nereid doctor` that is about Python's packages: which triton this environment imports and
why, which others are installed, and what torch requires.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator

import nereid_triton as finder

from ._version import __version__
from .metadata import TRITON_VERSION

_OFF = {
    "NEREID": f"NEREID={os.environ.get('NEREID', '')} switches Nereid off in this process",
    "nereid off": "`nereid off` switched Nereid off in this environment (`nereid on` switches it on)",
}


def _line(what: str, text: str) -> None:
    print(f"{what:<12} {text}")


def _is_registered() -> bool:
    return any(type(entry).__name__ == "Finder" and type(entry).__module__ == "nereid_triton" for entry in sys.meta_path)  # fmt: skip


def _installed(name: str) -> Iterator[importlib.metadata.Distribution]:
    """Distributions with files of their own; that of Nereid for the name triton has none."""
    for entry in dict.fromkeys(sys.path):
        yield from importlib.metadata.distributions(name=name, path=[entry])


def _owners() -> Iterator[importlib.metadata.Distribution]:
    """Those of which a `triton` is: that name, and names such as pytorch-triton with files in it."""
    for entry in dict.fromkeys(sys.path):
        for each in importlib.metadata.distributions(path=[entry]):
            described = each.read_text("METADATA") or each.read_text("PKG-INFO")
            if described and (_name(each) == "triton" or _has_package(each)):
                yield each


def _name(distribution: importlib.metadata.Distribution) -> str:
    return re.sub(r"[-_.]+", "-", distribution.metadata["Name"] or "").lower()


def _has_package(distribution: importlib.metadata.Distribution) -> bool:
    """Whether its list of files (RECORD, or SOURCES.txt of an egg) has a package `triton`."""
    lists = (distribution.read_text(name) or "" for name in ("RECORD", "SOURCES.txt"))
    return any(re.search(r'^"?triton/__init__\.py\b', text, re.MULTILINE) for text in lists)


def _folder(distribution: importlib.metadata.Distribution) -> str:
    return str(distribution.locate_file(""))


def _checkout(distribution: importlib.metadata.Distribution) -> str | None:
    """The folder of an editable installation (`pip install -e`), whose package is found by its own import hook."""
    import json
    from urllib.parse import unquote, urlparse

    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        is_editable = origin.get("dir_info", {}).get("editable", False)
        return unquote(urlparse(origin["url"]).path) if is_editable else None
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def _reason() -> str:
    """What keeps Nereid's package from being imported."""
    off = finder.switched_off()
    if off:
        return _OFF[off]
    if _is_registered():
        return "its folder comes first in sys.path"
    return (
        "Nereid's .pth file was not read, as under `python -S` or after `pip install --target`; "
        f"PYTHONPATH={finder.FOLDER} takes its place"
    )


def _describe_imported() -> list[str]:
    """Prints which triton is imported; returns problems."""
    spec = importlib.util.find_spec("triton")
    if spec is None or spec.origin is None:
        _line("triton", f"none: {_reason()}")
        return [] if finder.switched_off() else ["no triton is importable in this environment"]
    folder = os.path.dirname(spec.origin)
    ours = os.path.join(finder.FOLDER, "triton")
    if os.path.realpath(folder) == os.path.realpath(ours):
        _line("triton", f"{TRITON_VERSION} of Nereid {__version__}, {folder}")
    else:
        _line("triton", f"not Nereid's: {folder}; {_reason()}")
    return []


def _describe_others() -> list[str]:
    problems = []
    known = set()
    for other in _owners():
        name = _name(other)
        package = os.path.join(_folder(other), "triton")
        known.add(os.path.realpath(package))
        checkout = _checkout(other)
        place = f"editable, from {checkout}" if checkout else f"in {_folder(other)}"
        is_whole = os.path.isfile(os.path.join(package, "__init__.py")) or (
            checkout is not None and os.path.isdir(checkout)
        )
        use = "; NEREID=0 imports it" if is_whole else ""
        _line("beside it", f"{name} {other.version} {place}{use}")
        if not is_whole:
            again = f"-m pip install --force-reinstall --no-deps {name}=={other.version}"
            remedy = f"-m pip uninstall {name}" if checkout else again
            lack = "is gone" if checkout else "lacks files"
            problems.append(
                f"{name} {other.version} {place} {lack}; mend it by: {sys.executable} {remedy}"
            )
    for entry in sys.path:
        package = os.path.join(entry, "triton")
        if (
            entry.endswith("-packages")
            and os.path.isdir(package)
            and os.path.realpath(package) not in known
        ):
            problems.append(
                f"{package} belongs to no distribution: the remains of one that was removed; delete the folder"
            )
    return problems


def _describe_torch() -> list[str]:
    torch = next(_installed("torch"), None)
    if torch is None:
        _line("torch", "not installed")
        return []
    needs = [
        need for need in torch.requires or () if re.match(r"(pytorch[-_.]+)?triton(?![\w-])", need)
    ]
    if not needs:
        _line("torch", f"{torch.version}, requires no triton")
        return []
    need = re.sub(r"\s*;.*", "", needs[0])
    other = next(_owners(), None)
    has = (
        f"{_name(other)} {other.version} is installed for it"
        if other
        else "it is not installed; Nereid serves imports"
    )
    _line("torch", f"{torch.version}, requires {need}; {has}")
    return []


def _try_import() -> list[str]:
    done = subprocess.run([sys.executable, "-c", "import triton"], capture_output=True, text=True)
    if done.returncode == 0 or finder.switched_off():
        return []
    return [f"`import triton` fails: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"]


def report() -> bool:
    """Prints a line for each subject and one for each problem; returns whether there is none."""
    _line("python", f"{sys.version.split()[0]} in {sys.prefix}")
    problems = [*_describe_imported(), *_describe_others(), *_describe_torch(), *_try_import()]
    for problem in problems:
        _line("problem", problem)
    return not problems
