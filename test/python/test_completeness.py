"""Nothing is without a test: each diagnostic code has one, each built-in a run-test."""
# SPDX-License-Identifier: MIT

import ast
import re
from pathlib import Path

import pytest
from triton._C import libtriton

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "test"

# Our own bugs: no input leads to them. The code and why no test can.
UNREACHABLE = {"internal-broken-ir": "sema checks each op as it is made; this is the last net"}


def tables():
    found = sorted([*ROOT.glob("compiler/*/Diagnostics.def"), *ROOT.glob("jit/Diagnostics.def")])
    if not found:
        pytest.skip("the compiler's sources are not here")
    return found


def codes():
    """(name in C++, code) of every diagnostic."""
    entry = re.compile(r'^DIAG\((\w+), \w+, "([\w-]+)"', re.MULTILINE)
    return [match for table in tables() for match in entry.findall(table.read_text())]


def texts_of_tests():
    """All text of golden and unit tests, which name the codes that they provoke."""
    texts = []
    for folder in ("golden", "unit", "dialect", "python"):
        for path in (TESTS / folder).rglob("*"):
            if path.is_file() and path != Path(__file__) and "__pycache__" not in path.parts:
                texts.append(path.read_text(encoding="utf-8", errors="replace"))
    return "\n".join(texts)


def test_every_diagnostic_code_has_a_test():
    texts = texts_of_tests()
    missing = [
        code
        for _, code in codes()
        if f"[{code}]" not in texts and f'"{code}"' not in texts and code not in UNREACHABLE
    ]
    assert not missing, f"no golden or unit test shows {', '.join(missing)}"
    stale = UNREACHABLE.keys() - {code for _, code in codes()}
    assert not stale, f"no such code any more: {', '.join(sorted(stale))}"


def test_every_diagnostic_is_reported_somewhere():
    sources = "\n".join(
        path.read_text()
        for folder in ("compiler", "jit", "python/bindings", "tools")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".cpp", ".h")
    )
    unused = [code for name, code in codes() if not re.search(rf"\bdiag::{name}\b", sources)]
    assert not unused, f"nothing reports {', '.join(unused)}"


def test_codes_are_unique():
    all_codes = [code for _, code in codes()]
    assert len(all_codes) == len(set(all_codes))


def is_jitted(node):
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(decorator).startswith("triton.jit") for decorator in node.decorator_list
    )


def uses_in_run_tests():
    """Names of tl that run-tests write, and methods that jitted functions call."""
    names, methods = set(), set()
    for path in (TESTS / "run").rglob("*.py"):
        tree = ast.parse(path.read_text())
        attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        names |= {text for text in map(ast.unparse, attributes) if re.match(r"tl\.\w", text)}
        for function in filter(is_jitted, ast.walk(tree)):
            called = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
            methods |= {
                func.attr
                for func in called
                if isinstance(func, ast.Attribute)
                and not re.fullmatch(r"tl(\.\w+)+", ast.unparse(func))
            }
    return names, methods


MODULES = {"triton.language": "tl.", "triton.language.math": "tl.math."}


def test_every_built_in_has_a_run_test():
    names, methods = uses_in_run_tests()
    missing = []
    for entry in [*libtriton.builtins(), *libtriton.stdlib()]:
        name, module = entry["name"], entry["module"]
        if module in MODULES and MODULES[module] + name not in names:
            missing.append(MODULES[module] + name)
        if entry["member"] and name not in methods:
            missing.append(f"tensor.{name}")
    assert not missing, f"no run-test uses {', '.join(missing)}"
