"""What mkdocs does beyond its own: fills folders into the navigation and removes the marks of examples."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import pathlib
import re
from typing import Any

MARKS = re.compile(r'^```(\w+) (?:.*?(title="[^"]*"))?.*$', re.MULTILINE)


def on_config(config: Any) -> Any:
    config.nav = _filled(config.nav, pathlib.Path(config.docs_dir))
    return config


def _filled(entries: list[Any], docs: pathlib.Path) -> list[Any]:
    filled: list[Any] = []
    for entry in entries:
        title, value = next(iter(entry.items()))
        if isinstance(value, list):
            filled.append({title: _filled(value, docs)})
        elif value.endswith("/"):
            filled.append({title: _pages(docs, value)})
        else:
            filled.append(entry)
    return filled


def _pages(docs: pathlib.Path, folder: str) -> list[str]:
    """The pages of a folder by their headings, its README first."""
    pages = sorted((docs / folder).glob("*.md"), key=_heading)
    pages.sort(key=lambda page: page.name != "README.md")
    return [folder + page.name for page in pages]


def _heading(page: pathlib.Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].lower()


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The marks of an example say how test/python/test_docs.py runs it; a title is shown, the others are not."""
    return MARKS.sub(
        lambda found: f"```{found[1]}" + (f" {found[2]}" if found[2] else ""), markdown
    )
