"""What mkdocs does beyond its own: adds the generated pages, fills folders into the navigation and removes the marks of
examples."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import functools
import pathlib
import re
import sys
from typing import Any

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generate_docs

MARKS = re.compile(r'^```(\w+) (?:.*?(title="[^"]*"))?.*$', re.MULTILINE)


@functools.cache
def _generated() -> dict[str, str]:
    return generate_docs.pages()


def on_config(config: Any) -> Any:
    config.nav = _filled(config.nav, pathlib.Path(config.docs_dir))
    return config


def on_files(files: Any, config: Any) -> Any:
    """A page of docs/ that says where the generated one is built makes way for it."""
    for uri, text in _generated().items():
        if written := files.get_file_from_path(uri):
            files.remove(written)
        files.append(File.generated(config, uri, content=text))
    return files


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
    texts = {
        folder + page.name: page.read_text(encoding="utf-8")
        for page in (docs / folder).glob("*.md")
    }
    texts |= {uri: text for uri, text in _generated().items() if uri.startswith(folder)}
    pages = sorted(texts, key=lambda uri: (texts[uri].partition("\n")[0].lower(), uri))
    pages.sort(key=lambda uri: not uri.endswith("/README.md"))
    return pages


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The marks of an example say how test/python/test_docs.py runs it; a title is shown, the others are not."""
    return MARKS.sub(
        lambda found: f"```{found[1]}" + (f" {found[2]}" if found[2] else ""), markdown
    )
