"""The pages of docs/ and those that are generated: the site has no broken link, every example runs."""
# SPDX-License-Identifier: MIT

import dataclasses
import html.parser
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import _doc_examples as examples
import pytest
from triton import knobs
from triton.backends.amd.compiler import HIPOptions
from triton.backends.cpu.compiler import CPUOptions
from triton.backends.nvidia.compiler import CUDAOptions

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = {page.relative_to(ROOT).as_posix(): page for page in examples.pages()}


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    """The folder with the generated pages."""
    folder = tmp_path_factory.mktemp("pages")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "generate_docs.py", folder],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_each_generated_page_has_one_that_tells_of_it(generated):
    assert len(list(generated.glob("reference/*.md"))) > 20
    pages = [page.name for page in generated.glob("*.md")]
    assert sorted(pages) == ["builtins.md", "compatibility.md", "diagnostics.md"]
    for name in (*pages, "reference/README.md"):
        told, page = ROOT / "docs" / name, generated / name
        assert "`./dev docs` builds" in told.read_text(), name
        assert told.read_text().splitlines()[0] == page.read_text().splitlines()[0], name


def test_the_figure_of_the_flow_is_drawn():
    spec = importlib.util.spec_from_file_location("draw_flow", ROOT / "scripts" / "draw_flow.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["draw_flow"] = module
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "figures" / "flow.svg").read_text() == module.flow()


def names_of_variables(text):
    return set(re.findall(r"`([A-Z][A-Z0-9_]*[A-Z])`", text))


def test_the_page_of_trust_names_each_variable_that_loads_code():
    settings = (ROOT / "docs" / "settings.md").read_text().partition("## Environment variables")[2]
    with_effect, _, without_effect = settings.partition("### Accepted, without effect")
    kinds = r".*(_PATH|_DIR|_HOME|_MANAGER|_BACKEND|_OVERRIDE|_HOST|_PORT|_KEY_FORMAT|PTXAS_OPTIONS)|CC|NEREID"
    loading = {name for name in names_of_variables(with_effect) if re.fullmatch(kinds, name)}
    named = names_of_variables((ROOT / "docs" / "guide" / "security.md").read_text())
    assert len(loading) > 20 and loading - named == set()
    assert named & names_of_variables(without_effect) == set()


COMPONENTS = sorted(
    table.parent.relative_to(ROOT).as_posix()
    for folder in ("compiler", "jit")
    for table in (ROOT / folder).rglob("Diagnostics.def")
)


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_diagnostic_is_on_its_page(component, generated):
    text = (ROOT / component / "Diagnostics.def").read_text()
    page = (generated / "diagnostics.md").read_text()
    wanted = text.count("\nDIAG(")
    section = page.split(f"\n## {component}\n")[1].split("\n## ")[0]
    assert section.count("\n| ") == wanted + 2, "a DIAG line that generate_docs.py does not read"


def test_every_setting_is_on_its_page():
    """Variables and options are those that the package has."""
    groups = [group for group in vars(knobs).values() if isinstance(group, knobs.base_knobs)]
    variables = {each.key for group in groups for each in group.knob_descriptors.values()}
    variables |= {"TRITON_DEBUG", "TRITON_INSTRUMENTATION_MODE"}  # read once, at import
    variables |= {"OMP_NUM_THREADS"}  # read at the first launch
    variables |= {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}  # read by AMD's runtime
    variables |= {"NEREID"}  # read by the finder, before there is a package
    kinds = (CPUOptions, CUDAOptions, HIPOptions)
    options = {field.name for kind in kinds for field in dataclasses.fields(kind)}
    page = (ROOT / "docs" / "settings.md").read_text()
    named = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", page))
    assert named == variables
    launch = page.split("## Environment variables")[0]
    assert not [name for name in options if f"`{name}`" not in launch]
    assert set(re.findall(r"^\| `(\w+)`", launch, re.MULTILINE)) <= options


# --- the site -------------------------------------------------------------------------------------


class Reader(html.parser.HTMLParser):
    """The links and figures of a page."""

    def __init__(self):
        super().__init__()
        self.links = []
        self.figures = []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif tag == "img":
            self.figures.append(attributes["src"])


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the built site: mkdocs has checked links, anchors and the navigation."""
    if importlib.util.find_spec("mkdocs") is None:
        assert pathlib.Path(sys.prefix) != ROOT / ".venv", (
            "no mkdocs in .venv; ./dev setup installs it"
        )
        pytest.skip("no mkdocs in this Python (scripts/requirements-docs.txt)")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_site_has_every_page(site, generated):
    names = [name.removeprefix("docs/") for name in PAGES.keys() - {"README.md"}]
    names += [page.relative_to(generated).as_posix() for page in generated.rglob("*.md")]
    for name in names:
        page = (site / name.replace("README.md", "index.md")).with_suffix(".html")
        assert page.exists(), name
        assert "<code>./dev docs</code> builds" not in page.read_text(encoding="utf-8"), name


def test_links_of_the_readme():
    text = (ROOT / "README.md").read_text()
    links = re.findall(r"\]\(([\w./-]+)\)", text)
    assert links and not [link for link in links if not (ROOT / link).exists()]


def test_index_of_why_has_every_page():
    folder = ROOT / "docs" / "why"
    links = re.findall(r"\]\(([\w-]+\.md)\)", (folder / "README.md").read_text())
    pages = sorted(page.name for page in folder.glob("*.md") if page.name != "README.md")
    assert pages and sorted(links) == pages


def test_site_needs_no_other_host(site):
    """Links to other hosts are few; scripts, fonts and figures are all here."""
    outside = set()
    for page in site.rglob("*.html"):
        reader = Reader()
        text = page.read_text(encoding="utf-8")
        reader.feed(text)
        outside |= {link for link in reader.links if re.match(r"https?:", link)}
        assert not re.search(r'<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?//', text), page
        for figure in reader.figures:
            assert (page.parent / figure).exists(), f"{page} shows {figure}"
    assert len(outside) <= 5, outside


def test_marks_of_examples_are_not_shown(site):
    for page in site.rglob("*.html"):
        assert not re.search(r"<p>```|not-run=|<code>```", page.read_text(encoding="utf-8")), page


@pytest.mark.parametrize("name", PAGES)
def test_lists_are_lists_on_the_site(name):
    """Markdown on the site begins a list only after an empty line."""
    before, is_code, is_list, wrong = "", False, False, []
    for number, line in enumerate(PAGES[name].read_text(encoding="utf-8").splitlines(), 1):
        is_code ^= line.startswith("```")
        if re.match(r"(?:- |\d+\. )", line) and not is_code:
            wrong += [number] if before and not is_list else []
            is_list = True
        is_list = is_list and line != ""
        before = line
    assert not wrong, f"lists without an empty line before them: {wrong}"


# --- the examples ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_marks_are_known(name):
    wrong = [text for block in examples.blocks(PAGES[name]) for text in examples.problems(block)]
    assert not wrong, "\n".join(wrong)


def test_signatures_are_python(generated, tmp_path):
    run = examples.Run(tmp_path)
    for page in sorted(generated.rglob("*.md")):
        for block in examples.blocks(page):
            assert block.way() in ("signature", "shown"), f"{block}: an example on a generated page"
            assert not examples.problems(block)
            run.add(block)


@pytest.mark.full("docs/guide/deploy.md")  # torch compiles C++
@pytest.mark.parametrize("name", [name for name in PAGES if examples.blocks(PAGES[name])])
def test_examples_run(name, tmp_path, device):
    if reason := examples.reason_to_skip():
        pytest.skip(reason)
    run = examples.Run(tmp_path, on_gpu=device == "cuda")
    for block in examples.blocks(PAGES[name]):
        run.add(block)


def test_examples_fail_if_they_are_wrong(tmp_path):
    """What the checks are worth: a program that fails, an output that differs, a program that should fail."""

    def add(language, text, **marks):
        run.add(examples.Block(ROOT / "README.md", 1, language, marks, text))

    run = examples.Run(tmp_path)
    add("python", "print('one')\nprint('two')\n")
    add("text", "one\n...\n", output="")
    add("text", "t...o\n", output="")
    with pytest.raises(AssertionError, match="the output is\none"):
        add("text", "one\nthree\n", output="")
    with pytest.raises(AssertionError, match="the output is"):
        add("text", "on\n", output="")
    with pytest.raises(AssertionError, match="status 1"):
        add("python", "assert False\n")
    with pytest.raises(AssertionError, match="status 0"):
        add("python", "pass\n", fails="")
    with pytest.raises(AssertionError, match="status 1"):
        add("sh", "false\ntrue\n")
    with pytest.raises(SyntaxError):
        add("python", "def f(:\n", xla="jax")
