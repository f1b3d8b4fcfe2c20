"""The golden trees of test/golden/syntax match CPython's own `ast` for the same text."""
# SPDX-License-Identifier: MIT

import ast
import pathlib
import sys

import pytest

FOLDER = pathlib.Path(__file__).parent.parent / "golden" / "syntax"
SEPARATOR = "#---\n"

OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.MatMult: "@",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.FloorDiv: "//",
    ast.Invert: "~",
    ast.Not: "not",
    ast.UAdd: "+",
    ast.USub: "-",
    ast.And: "and",
    ast.Or: "or",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
RENAMED = {
    "Expr": "ExprStmt",
    "AsyncFunctionDef": "FunctionDef",
    "AsyncFor": "For",
    "AsyncWith": "With",
    "TryStar": "Try",
    "ExceptHandler": "except",
}
# Singular names of the fields that hold lists.
SINGULAR = {
    "targets": "target",
    "values": "value",
    "elts": "elt",
    "names": "name",
    "bases": "base",
    "keywords": "keyword",
    "handlers": "handler",
    "generators": "generator",
    "comparators": "comparator",
    "ifs": "if",
    "args": "arg",
    "decorator_list": "decorator",
}
# Fields that are words after the node's name, or absent, in our tree.
NOT_CHILDREN = {"ctx", "op", "ops", "type_comment", "type_params", "type_ignores", "simple", "kind"}
NOT_CHILDREN |= {"is_async", "conversion", "asname", "module", "level", "attr", "id"}


def quoted(data: bytes) -> str:
    def char(byte: int) -> str:
        if byte == ord("\\"):
            return "\\\\"
        return chr(byte) if 0x20 <= byte < 0x7F and byte != ord('"') else f"\\{byte:02X}"

    return '"' + "".join(map(char, data)) + '"'


def constant(value) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    if value is ...:
        return "Ellipsis"
    if isinstance(value, int):
        return f"int {value}"
    if isinstance(value, float):
        return f"float {value:.17g}"
    if isinstance(value, complex):
        return f"imaginary {value.imag:.17g}"
    if isinstance(value, str):
        return "str " + quoted(value.encode("utf-8", "surrogatepass"))
    return "bytes " + quoted(value)


def words(node: ast.AST) -> list[str]:
    """The words after the name and the range of a node."""
    if isinstance(node, ast.Constant):
        return [constant(node.value)]
    if isinstance(node, ast.Compare):
        return [OPERATORS[type(op)] for op in node.ops]
    if isinstance(node, ast.Global | ast.Nonlocal):
        return node.names
    if isinstance(node, ast.keyword):
        return [node.arg or "**"]
    if isinstance(node, ast.alias):
        return [node.name] + (["as " + node.asname] if node.asname else [])
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    if isinstance(node, ast.FormattedValue):
        return ["!" + chr(node.conversion)] if node.conversion != -1 else []
    found = []
    if hasattr(node, "op"):
        found.append(OPERATORS[type(node.op)])
    for field in ("name", "attr", "id", "arg"):
        name = getattr(node, field, None)
        if name is not None:
            found.append(name.id if isinstance(name, ast.Name) else name)
    if isinstance(node, ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith):
        found.append("async")
    if type(node).__name__ == "TryStar":
        found.append("star")
    if getattr(node, "type_params", None) and not hasattr(node, "value"):
        found.append("generic")
    return found


def parameters(node: ast.arguments):
    positional = node.posonlyargs + node.args
    defaults = [None] * (len(positional) - len(node.defaults)) + node.defaults
    for index, (parameter, default) in enumerate(zip(positional, defaults, strict=True)):
        yield ("posonly" if index < len(node.posonlyargs) else "arg"), parameter, default
    if node.vararg:
        yield "vararg", node.vararg, None
    for parameter, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        yield "kwonly", parameter, default
    if node.kwarg:
        yield "kwarg", node.kwarg, None


def children(node: ast.AST):
    """Pairs of a label and a child, in the order of our printer; a parameter has its default."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            yield "key", key
            yield "value", value
        return
    if isinstance(node, ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef):
        for label, parameter, default in parameters(node.args):
            yield label, (parameter, default)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from (("decorator", child) for child in node.decorator_list)
        yield "returns", node.returns
        yield from (("body", child) for child in node.body)
        return
    if isinstance(node, ast.ClassDef):
        for field in ("bases", "keywords", "decorator_list", "body"):
            yield from ((SINGULAR.get(field, field), child) for child in getattr(node, field))
        return
    if isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            yield "item", item.context_expr
            yield "as", item.optional_vars
    for field, value in ast.iter_fields(node):
        if field in NOT_CHILDREN or (isinstance(node, ast.Lambda) and field == "args"):
            continue
        if isinstance(node, ast.Match) and field == "cases":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.withitem):
                label = SINGULAR.get(field, field) if isinstance(value, list) else field
                if not (field == "name" and isinstance(child, ast.Name)):
                    yield label, child


def place(node) -> str:
    return f"{node.lineno}:{node.col_offset + 1}-{node.end_lineno}:{node.end_col_offset + 1}"


def show(node, depth: int) -> str:
    default = None
    if isinstance(node, tuple):
        node, default = node
    name = RENAMED.get(type(node).__name__, type(node).__name__)
    head = [name] if not hasattr(node, "lineno") else [name, place(node)]
    if isinstance(node, ast.comprehension) and node.is_async:
        head.append("async")
    text = " ".join(head + words(node))
    for label, child in [*children(node), ("default", default)]:
        if child is not None:
            text += f"\n{'  ' * (depth + 1)}{label}: {show(child, depth + 1)}"
    return f"({text})"


def sections():
    for path in sorted(FOLDER.glob("*.in")):
        if path.name.startswith("fail_"):
            continue
        texts = path.read_bytes().decode().split(SEPARATOR)
        trees = path.with_suffix(".out").read_bytes().decode().split(SEPARATOR)
        for index, (text, tree) in enumerate(zip(texts, trees, strict=True)):
            yield pytest.param(text, tree, id=f"{path.stem}-{index}")


@pytest.mark.parametrize("text, tree", list(sections()))
def test_tree_is_that_of_cpython(text, tree):
    if sys.version_info < (3, 13) and "JoinedStr" in tree:
        pytest.skip("before Python 3.13 the parts of an f-string have other ranges, or are empty")
    try:
        expected = ast.parse(text)
    except SyntaxError as error:
        if sys.version_info >= (3, 12):
            raise
        pytest.skip(f"this text needs a newer Python: {error.msg}")
    assert show(expected, 0) + "\n" == tree
