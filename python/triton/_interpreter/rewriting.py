"""Rewrites the body of a kernel where Python's meaning differs from the language's; line numbers
are kept.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ast
from typing import Any

from .waits import deciding_names

PREFIX = "_interpreted_"  # of the names of support functions (body.py) in rewritten code


def _is_constexpr(annotation: Any) -> bool:
    return annotation is not None and "constexpr" in ast.unparse(annotation)


class Rewriter(ast.NodeTransformer):
    """Inserts calls of support functions where Python's meaning differs."""

    def __init__(self) -> None:
        self.constants: set[str] = set()  # names declared `tl.constexpr`

    def _call(self, name: str, node: ast.AST, *args: ast.expr) -> ast.expr:
        function = ast.Name(PREFIX + name, ast.Load())
        made = ast.Call(function, list(args), [])
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def _thunk(self, node: ast.expr) -> ast.expr:
        nothing = ast.arguments([], [], None, [], [], None, [])
        return ast.copy_location(ast.Lambda(nothing, node), node)

    def _keeps(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Name) and target.id in self.constants

    def _kept(self, target: ast.expr) -> Any:
        """Whether each name of a target holds a constant, in the nesting of the target."""
        if isinstance(target, (ast.Tuple, ast.List)):
            return tuple(map(self._kept, target.elts))
        return self._keeps(target)

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, (ast.Tuple, ast.List)):
            kept = ast.parse(repr(self._kept(target)), mode="eval").body
            node.value = self._call("decayed_but", node.value, node.value, kept)
        elif not all(map(self._keeps, node.targets)):
            node.value = self._call("decayed", node.value, node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if _is_constexpr(node.annotation) and isinstance(node.target, ast.Name):
            self.constants.add(node.target.id)
        self.generic_visit(node)
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        value = (
            node.value
            if self._keeps(node.target)
            else self._call("decayed", node.value, node.value)
        )
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        old = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value: ast.expr = ast.copy_location(ast.BinOp(old, node.op, node.value), node)
        if not self._keeps(node.target):
            value = self._call("decayed", node, value)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        self.generic_visit(node)
        if not self._keeps(node.target):
            node.value = self._call("decayed", node.value, node.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        if any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node)):
            return node  # a name bound in a lambda is not bound outside
        name = "and" if isinstance(node.op, ast.And) else "or"
        return self._call(name, node, *map(self._thunk, node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return self._call("not", node, node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) > 1:
            names = ast.Tuple([ast.Constant(type(op).__name__) for op in node.ops], ast.Load())
            return self._call(
                "chained", node, names, node.left, *map(self._thunk, node.comparators)
            )
        if not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return node
        same = self._call("is", node, node.left, node.comparators[0])
        if isinstance(node.ops[0], ast.Is):
            return same
        return ast.copy_location(ast.UnaryOp(ast.Not(), same), node)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        node.func = self._call("callee", node.func, node.func)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        text = f"def combine({ast.unparse(node.args)}):\n    return {ast.unparse(node.body)}\n"
        self.generic_visit(node)
        return self._call("lambda", node, node, ast.Constant(text))

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if node.attr == "value" and isinstance(node.ctx, ast.Load):
            return self._call("value", node, node.value)
        return node

    def visit_While(self, node: ast.While) -> Any:
        """Programs that wait are found by their `while` loops (waits.py)."""
        names, place = (
            ast.Constant(tuple(deciding_names(node))),
            ast.Constant((node.lineno, node.col_offset)),
        )
        self.generic_visit(node)
        begins = ast.Expr(self._call("enter", node.test, place))
        iterates = self._call("iterate", node.test, place, names)
        node.test = self._call("tested", node.test, place, iterates, node.test)
        return [ast.copy_location(begins, node), node]

    def visit_Assert(self, node: ast.Assert) -> Any:
        self.generic_visit(node)
        args = [node.test] if node.msg is None else [node.test, node.msg]
        return ast.copy_location(ast.Expr(self._call("assert", node, *args)), node)
