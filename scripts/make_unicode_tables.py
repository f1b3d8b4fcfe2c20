# Writes compiler/syntax/UnicodeTables.inc: characters beyond ASCII that are allowed in Python names.
# SPDX-License-Identifier: MIT
#
# Run it when a newer Python has a newer Unicode version: python3 scripts/make_unicode_tables.py
import pathlib
import unicodedata
from collections.abc import Callable

OUTPUT = pathlib.Path(__file__).parent.parent / "compiler" / "syntax" / "UnicodeTables.inc"
PER_LINE = 6


def can_start(char: str) -> bool:
    return char.isidentifier()


def can_continue_only(char: str) -> bool:
    return ("a" + char).isidentifier() and not char.isidentifier()


def composing_marks() -> set[str]:
    """Diacritics that normalisation combines with the letter before them."""
    marks = set()
    for code in range(0x80, 0x30000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<") and 0x300 <= int(parts[1], 16) <= 0x36F:
            marks.add(chr(int(parts[1], 16)))
    return marks


MARKS = composing_marks()


def is_not_normalized(char: str) -> bool:
    if not ("a" + char).isidentifier():
        return False
    return char in MARKS or unicodedata.normalize("NFKC", char) != char


def ranges(belongs: Callable[[str], bool]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for code in range(0x80, 0x110000):
        if 0xD800 <= code < 0xE000 or not belongs(chr(code)):
            continue
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


def table(name: str, belongs: Callable[[str], bool]) -> str:
    entries = [f"{{0x{low:04X}, 0x{high:04X}}}" for low, high in ranges(belongs)]
    lines = [", ".join(entries[i : i + PER_LINE]) for i in range(0, len(entries), PER_LINE)]
    body = ",\n    ".join(lines)
    return f"static const llvm::sys::UnicodeCharRange {name}[] = {{\n    {body}}};\n"


def main() -> None:
    head = (
        "// Characters beyond ASCII in Python names, of Unicode "
        f"{unicodedata.unidata_version}; written by scripts/make_unicode_tables.py.\n"
        "// SPDX-License-Identifier: MIT\n"
    )
    tables = [
        table("nameStartRanges", can_start),
        table("nameContinueRanges", can_continue_only),
        table("notNormalizedRanges", is_not_normalized),
    ]
    OUTPUT.write_text(head + "\n" + "\n".join(tables))


if __name__ == "__main__":
    main()
