"""The variants of a kernel that there are: of this process, or in the cache folder; for messages."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import glob
import os
import re
import time
from types import SimpleNamespace
from typing import Any

from ... import knobs
from ..._C import libtriton
from ..cache import read_own_file
from .variant import PROPERTIES, Variant

_SECONDS = 0.5  # for a look into the folder, the newest files first


def of_process(function: Any) -> list[Variant]:
    """Those that this process has compiled, or read from a cache, for launches, and those of its packs."""
    from ..packs.packed_variants import variants_of

    found = variants_of(function)
    for kernels, *_ in list(function.__dict__.get("device_caches", {}).values()):
        for kernel in list(kernels.values()):
            group = vars(kernel).get("metadata_group")  # not of one that is being compiled
            if hasattr(group, "options"):
                found.append(Variant.of_source(kernel.src, group.target, group.options, "plain"))
    return found


def in_folder(wanted: Variant) -> list[Any]:
    """Those of the same name and target in the cache folder, as `Variant.nearest` takes them."""
    name, names = wanted.function.__name__, list(wanted.signature)
    end = time.monotonic() + _SECONDS
    found = []
    for path in sorted(glob.glob(f"{glob.escape(knobs.cache.dir)}/??/*.nereid"), key=_age):
        if time.monotonic() > end:
            break
        code = _read(path)
        if code is None or code.name != name:
            continue
        words = split_words(code.signature)
        if len(words) == len(names) and _is_for(code, wanted):
            arguments = dict(zip(names, words, strict=True))
            found.append(_stored(wanted, arguments, code.metadata))
    return found[::-1]  # of equals `nearest` takes the last


def _age(path: str) -> float:
    try:
        return -os.stat(path).st_mtime
    except OSError:
        return 0.0


def _read(path: str) -> Any:
    try:
        content = read_own_file(path)
        return None if content is None else libtriton.load_artifact(content)
    except (OSError, RuntimeError, ValueError):
        return None


def _is_for(code: Any, wanted: Variant) -> bool:
    from ...compiler import make_backend

    return make_backend(wanted.target).binary_ext in code.stages()


def _stored(wanted: Variant, words: dict[str, str], options: dict[str, Any]) -> Any:
    arguments = {}
    for name, word in words.items():
        text = wanted.arguments[name]
        arguments[name] = text if _normal(text) == _normal(word) else described(word)
    return SimpleNamespace(
        arguments=arguments, options=SimpleNamespace(**options), target=wanted.target
    )


def described(word: str) -> str:
    """ "*fp32:16" as "*fp32, a multiple of 16"."""
    if word.startswith("(") and word.endswith(")"):
        return f"({', '.join(map(described, split_words(word[1:-1])))})"
    if constant := _CONSTANT.fullmatch(word):
        return constant[1]
    if not (word.startswith("*") or word[:1].isalpha()) or ":" not in word:
        return word
    kind, *properties = word.split(":")
    known = {"S": PROPERTIES["tt.pointer_range"]}
    return ", ".join(
        [
            kind,
            *(known.get(each, PROPERTIES["tt.divisibility"].format(each)) for each in properties),
        ]
    )


_CONSTANT = re.compile(r'constexpr<"(.*)">', re.DOTALL)


def _normal(text: str) -> str:
    """Equal for the two spellings of a constant: that of messages and that of artifacts."""
    if constant := _CONSTANT.fullmatch(text):
        text = constant[1]
    text = re.sub(r" [0-9a-f]{64}$|^dtype ", "", text)
    return text.replace(" ", "").replace(",)", ")").replace("'", '"')


def split_words(signature: str) -> list[str]:
    """The words of a signature, which commas separate outside of brackets and quotes."""
    words, word, depth, quote = [], "", 0, ""
    for letter in signature:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([<":
            depth += 1
        elif letter in ")]>":
            depth -= 1
        if letter == "," and not quote and depth == 0:
            words.append(word.strip())
            word = ""
        else:
            word += letter
    return [*words, word.strip()] if signature else []
