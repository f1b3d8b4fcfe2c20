"""Collects the built-ins that launched kernels use: in their text, in that of the functions they
call, or as constant arguments.
"""
# SPDX-License-Identifier: MIT

import ast
import builtins
import textwrap
import types

from triton.language.builtin import Builtin
from triton.runtime.jit import JITFunction

OTHER_NAMES = {"triton.language.core": "triton.language", "triton.language.standard": "triton.language"}


class UsedNames:
    """`names` has "triton.language.exp", `methods` has "sum" for x.sum()."""

    def __init__(self):
        self.names: set[str] = set()
        self.methods: set[str] = set()
        self._seen: set[int] = set()

    def record(self, kernel, values):
        """Records a launch of the kernel with these arguments."""
        while not isinstance(kernel, JITFunction) and hasattr(kernel, "fn"):
            kernel = kernel.fn
        for value in (kernel, *values):
            self._value(value)

    def _value(self, value):
        if isinstance(value, Builtin):
            self._name(value.__module__, value.__name__)
        elif isinstance(value, JITFunction) and id(value) not in self._seen:
            self._seen.add(id(value))
            self._text(value)
        elif isinstance(value, (tuple, list)):
            for item in value:
                self._value(item)

    def _name(self, module, name):
        self.names.add(f"{OTHER_NAMES.get(module, module)}.{name}")

    def _text(self, function):
        scope = {**vars(builtins), **function.fn.__globals__, **function.nonlocals}
        tree = ast.parse(textwrap.dedent(function.src))
        for node in ast.walk(tree):  # `info = tl.target_info`
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = self._resolve(node.value, scope)
                if isinstance(value, types.ModuleType):
                    scope[node.targets[0].id] = value
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                self._value(scope.get(node.id))
            elif isinstance(node, ast.Attribute):
                self._attribute(node, scope)

    def _attribute(self, node, scope):
        base = self._resolve(node.value, scope)
        if isinstance(base, types.ModuleType):
            self._value(getattr(base, node.attr, None))
            self._name(base.__name__, node.attr)
        elif base is None:
            self.methods.add(node.attr)

    def _resolve(self, node, scope):
        if isinstance(node, ast.Name):
            return scope.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._resolve(node.value, scope), node.attr, None)
        return None


USED = UsedNames()
