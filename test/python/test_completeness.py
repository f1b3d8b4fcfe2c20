"""Everything has a test: each diagnostic code, each op a round trip, each rule of an op; test/run/all_names.py
checks built-ins.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import re
import types
from pathlib import Path

import pytest
import triton.language as tl
from triton.language.builtin import Builtin
from triton.runtime.jit import JITFunction

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "test"

# Codes that report our own bugs, with the reason why no input leads to them.
UNREACHABLE = {
    "tensor-map-scratch": "every tensor map gets its scratch memory before code is generated",
    "arange-power-of-two": "for targets that do not round extents up; both that there are do",
    "extent-power-of-two": "for targets that do not round extents up; both that there are do",
}


def tables():
    found = sorted([*ROOT.glob("compiler/**/Diagnostics.def"), *ROOT.glob("jit/Diagnostics.def")])
    if not found:
        pytest.skip("the compiler's sources are not here")
    return found


def codes():
    """(name in C++, code) of every diagnostic."""
    entry = re.compile(r'^DIAG\((\w+), \w+, "([\w-]+)"', re.MULTILINE)
    return [match for table in tables() for match in entry.findall(table.read_text())]


def texts_of_tests():
    """All text of tests, which contains the codes that they provoke."""
    texts = []
    for folder in ("golden", "unit", "dialect", "python", "run", "target", "tools"):
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
    assert not missing, f"no test shows {', '.join(missing)}"
    stale = UNREACHABLE.keys() - {code for _, code in codes()}
    assert not stale, f"no such code any more: {', '.join(sorted(stale))}"


def test_every_diagnostic_is_reported_somewhere():
    sources = "\n".join(
        path.read_text()
        for folder in ("compiler", "jit", "python/bindings", "runtime", "tools")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".cpp", ".h")
    )
    # Runtimes know codes as texts.
    unused = [
        code
        for name, code in codes()
        if not re.search(rf'\bdiag::{name}\b|\bfail\([^;]*"{code}"', sources)
    ]
    assert not unused, f"nothing reports {', '.join(unused)}"


def test_codes_are_unique():
    all_codes = [code for _, code in codes()]
    assert len(all_codes) == len(set(all_codes))


def test_targets_are_told_apart_by_their_properties():
    """A new target must not be searched for in comparisons with its name (docs/why/target-info.md)."""
    comparison = re.compile(r'[!=]=\s*"(cpu|cuda|hip)"|"(cpu|cuda|hip)"\s*[!=]=')
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in ("artifact", "compiler", "jit", "python/bindings", "runtime", "tools", "xla")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".cpp", ".h")
        for line in path.read_text().splitlines()
        if comparison.search(line)
    ]
    assert not found, "\n".join(found)


def ops():
    """The names of the ops that the .td files of dialect/tt declare."""
    found = []
    for path in sorted((ROOT / "compiler" / "dialect" / "tt").glob("*Ops.td")):
        text = path.read_text()
        found += re.findall(r"^def \w+Op : \w+<(?:Tt_Dialect, )?\"([\w.]+)\"", text, re.MULTILINE)
    if not found:
        pytest.skip("the compiler's sources are not here")
    return [f"tt.{name}" for name in found]


def round_trips():
    """The text that round-trip tests of the dialect expect."""
    checks = []
    for path in (TESTS / "dialect" / "tt").glob("*.mlir"):
        lines = path.read_text().splitlines()
        if re.search(
            r"RUN: nereid-opt( -{1,2}\S+)* %s \| nereid-opt( -{1,2}\S+)* \| FileCheck", lines[0]
        ):
            checks += [line for line in lines if re.search(r"// CHECK[A-Z-]*:", line)]
    return "\n".join(checks)


def test_every_op_has_a_round_trip():
    checked = round_trips()
    missing = [name for name in ops() if not re.search(rf"{re.escape(name)}(?![\w.])", checked)]
    assert not missing, f"no round trip shows {', '.join(missing)}"


def rules_of_ops():
    """(op, rule) of every numbered rule in the description of an op, of all dialects."""
    found = set()
    for path in (ROOT / "compiler").rglob("*.td"):
        for definition in re.split(r"^(?=def )", path.read_text(), flags=re.MULTILINE):
            name = re.match(r'def \w+ : (?:Op<)?([A-Z][a-z]+)_\w+[<,]\s*"([\w.]+)"', definition)
            text = re.search(r"let description = \[\{(.*?)\}\]", definition, re.DOTALL)
            if name and text:
                rules = re.findall(r"^\s*(C\d+)\.", text.group(1), re.MULTILINE)
                found.update((f"{name.group(1).lower()}.{name.group(2)}", rule) for rule in rules)
    if not found:
        pytest.skip("the compiler's sources are not here")
    return found


def violated_rules():
    """(op, rule) of the negative tests: a line `// C2`, the expected error, the op."""
    marker = re.compile(
        r"^ *// (C\d+)\n(?: *// expected-error.*\n)+.*?\b((?:tt|ttg|ttng|amdg|gluon|check)\.\w+)",
        re.MULTILINE,
    )
    return {
        (op, rule)
        for path in TESTS.rglob("*.mlir")
        for rule, op in marker.findall(path.read_text())
    }


def test_every_rule_of_an_op_has_a_negative_test():
    missing = [f"{op} {rule}" for op, rule in sorted(rules_of_ops() - violated_rules())]
    assert not missing, f"no test violates {', '.join(missing)}"
    stale = [f"{op} {rule}" for op, rule in sorted(violated_rules() - rules_of_ops())]
    assert not stale, f"no such rule any more: {', '.join(stale)}"


def rules_of_plans():
    """The fixed end of the text with which the CPU target's plan verifier reports each rule."""
    source = ROOT / "compiler" / "target" / "cpu" / "plan" / "VerifyPlan.cpp"
    if not source.exists():
        pytest.skip("the compiler's sources are not here")
    calls = re.findall(r"\bfail\((?!const)([^;]*)\);", source.read_text())
    return [re.findall(r'"([^"]*)"', call)[-1].strip() for call in calls]


def test_every_rule_of_a_plan_has_a_negative_test():
    rules = rules_of_plans()
    assert len(rules) == len(set(rules)) > 20, "a call that this test does not read"
    tests = (TESTS / "unit" / "target_cpu" / "PlanVerifierTest.cpp").read_text()
    missing = [rule for rule in rules if f'{rule}"' not in tests]
    assert not missing, f"PlanVerifierTest.cpp breaks no plan so: {', '.join(missing)}"


def texts_of_python_tests():
    paths = [*(TESTS / "python").rglob("*.py"), *(TESTS / "run").rglob("*.py")]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


# Modules, and the names that test/run/all_names.py covers.
COUNTED_ELSEWHERE = (types.ModuleType, Builtin, JITFunction)


def test_every_public_name_of_the_language_is_in_a_test():
    texts = texts_of_python_tests()
    names = {name: f"tl.{name}" for name in dir(tl) if not name.startswith("_")}
    shown = [
        text
        for name, text in names.items()
        if not isinstance(getattr(tl, name), COUNTED_ELSEWHERE)
        and getattr(tl, name) is not annotations
        and not re.search(rf"\btl\.(core\.)?{name}\b|\"{name}\"", texts)
    ]
    assert not shown, f"no test names {', '.join(shown)}"


@pytest.mark.parametrize(
    "name",
    ["dtype", "block_type", "pointer_type", "tensor", "constexpr", "tuple", "tensor_descriptor"],
)
def test_every_public_attribute_of_a_class_is_in_a_test(name):
    texts = texts_of_python_tests()
    predicates = r"is_(?:u?int|fp|bf)\d+\w*"  # test_types.py builds their names
    public = [
        attr
        for attr in dir(getattr(tl, name))
        if not attr.startswith("_") and not re.fullmatch(predicates, attr)
    ]
    missing = [attr for attr in public if not re.search(rf"\.{attr}\b", texts)]
    assert not missing, f"no test names {', '.join(missing)} of tl.{name}"
