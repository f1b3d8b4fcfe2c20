"""`triton.aggregate`: classes whose instances are values of kernels, and `aggregate_replace`, which
copies them with changed fields.
"""

# SPDX-License-Identifier: MIT
#
# An instance is passed to the compiler as the list of its fields and returned as one. Fields are set only by
# `__init__`.
from __future__ import annotations

import builtins
import sys
import types
from typing import Any

from .dtypes import base_type
from .values import active_semantic, base_value, constexpr, tensor
from .values import tuple as tl_tuple

_BUILDING = "_aggregate_under_construction"


class aggregate_type(base_type):
    """The type of an instance: its class and the types of its fields."""

    def __init__(self, cls: type, fields: list[tuple[str, Any]]):
        self.base_cls, self.fields = cls, fields

    def mangle(self) -> str:
        inner = ", ".join(item.mangle() for _, item in self.fields)
        return f"{self.base_cls.__module__}.{self.base_cls.__qualname__}<{inner}>"

    def __eq__(self, other: Any) -> bool:
        return (
            isinstance(other, aggregate_type)
            and self.base_cls is other.base_cls
            and self.fields == other.fields
        )

    def __hash__(self) -> int:
        return hash(self.mangle())

    def __repr__(self) -> str:
        return self.mangle()


def is_aggregate(cls: Any) -> bool:
    return isinstance(cls, type) and "__aggregate_fields__" in dir(cls)


def _as_field(value: Any) -> Any:
    """A field as it is stored: values of kernels are kept, all others become compile-time
    constants.
    """
    if isinstance(value, base_value) or callable(value) and hasattr(value, "noinline"):
        return value
    if isinstance(value, builtins.tuple):
        fields = list(value._fields) if hasattr(value, "_fields") else None
        items = [_as_field(item) for item in value]
        result = tl_tuple(items)
        if fields:
            result.type.fields = fields
        return result
    return constexpr(value)


def _type_of(value: Any) -> Any:
    return value.type if isinstance(value, base_value) else constexpr(value).type


def _own_annotations(cls: type) -> dict[str, Any]:
    """Annotations of the class's own body; strings are resolved in the scope of the class
    statement.
    """
    import inspect

    if not any(isinstance(item, str) for item in cls.__dict__.get("__annotations__", {}).values()):
        return dict(inspect.get_annotations(cls))
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    try:
        return dict(inspect.get_annotations(cls, locals=dict(frame.f_locals), eval_str=True))
    except NameError:  # a name that is defined later: the fields are known, their types are not checked
        return dict.fromkeys(cls.__dict__["__annotations__"], object)


def _accepts(kind: Any, value: Any) -> bool:
    if not isinstance(kind, type):
        return True  # typing's own forms
    if isinstance(value, kind):
        return True
    return isinstance(value, constexpr) and isinstance(value.value, kind)


def _default_init(self: Any, *args: Any, **kwargs: Any) -> None:
    cls = type(self)
    names = list(cls.__aggregate_fields__)
    if len(args) > len(names):
        raise TypeError(f"{cls.__name__}() takes {len(names)} fields, but {len(args)} are given")
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in cls.__aggregate_fields__:
            raise TypeError(f"{cls.__name__}() got an unexpected field '{name}'")
        if name in given:
            raise TypeError(f"{cls.__name__}() got multiple values for field '{name}'")
        given[name] = value
    for name in names:
        if name not in given and name not in cls.__aggregate_defaults__:
            raise TypeError(f"{cls.__name__}() is missing the field '{name}'")
        setattr(self, name, given.get(name, cls.__aggregate_defaults__.get(name)))


def _is_launched_as(kind: Any, value: Any) -> bool:
    """Whether a field that is a tensor, or a tuple, in the kernel may hold a launch argument on the
    host: an array or a number; such fields are kept as they are.
    """
    if not isinstance(kind, type) or isinstance(value, base_value):
        return False
    if issubclass(kind, tensor):
        return isinstance(value, (bool, int, float)) or _is_array(value)
    return issubclass(kind, tl_tuple) and isinstance(value, builtins.tuple) and any(map(_is_array, value))


def _is_array(value: Any) -> bool:
    return hasattr(value, "data_ptr") or hasattr(value, "__dlpack__")


def _parameters_of(fn: Any) -> set[str]:
    code = getattr(getattr(fn, "fn", fn), "__code__", None)
    if code is None:
        return set()
    return set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


class _AggregateMeta(type):
    """Runs `__init__` with the fields writable, checks them, then makes the instance immutable."""

    def __call__(cls, *args: Any, _semantic: Any = None, _generator: Any = None, **kwargs: Any) -> Any:
        self = cls.__new__(cls)
        _semantic = _semantic or active_semantic()
        init: Any = cls.__aggregate_init__
        accepted = _parameters_of(init)
        if "_semantic" in accepted:
            kwargs["_semantic"] = _semantic
        if "_generator" in accepted:
            kwargs["_generator"] = _generator or _semantic
        object.__setattr__(self, _BUILDING, "host" if _semantic is None else "kernel")
        getattr(init, "fn", init)(self, *args, **kwargs)
        object.__delattr__(self, _BUILDING)
        cls._check(self)
        return self

    def _check(cls, self: Any) -> None:
        for name, kind in cls.__aggregate_fields__.items():
            if name not in self.__dict__:
                raise AttributeError(f"{cls.__name__}.__init__ did not set the field '{name}'")
            value = self.__dict__[name]
            if not _is_launched_as(kind, value) and not _accepts(kind, value):
                expected = getattr(kind, "__name__", kind)
                raise TypeError(f"Expected {expected} for attribute `{name}`, got {value!r}")


class aggregate_value(base_value, metaclass=_AggregateMeta):
    """Base class of all aggregates."""

    __aggregate_fields__: dict[str, Any] = {}
    __aggregate_defaults__: dict[str, Any] = {}
    __aggregate_init__: Any = _default_init
    hash_attrs: list[Any] = []

    @classmethod
    def _from_fields(cls, values: Any) -> Any:
        """An instance with these fields, created without running `__init__`. Called by the native
        module.
        """
        self = cls.__new__(cls)
        for name, value in zip(cls.__aggregate_fields__, values, strict=True):
            object.__setattr__(self, name, _as_field(value))
        return self

    @property
    def type(self) -> Any:  # type: ignore[override]
        fields = [(name, _type_of(self.__dict__[name])) for name in self.__aggregate_fields__]
        return aggregate_type(type(self), fields)

    def __setattr__(self, name: str, value: Any) -> None:
        if _BUILDING not in self.__dict__:
            raise AttributeError(
                f"cannot assign to field '{name}' on immutable aggregate {type(self).__name__}; "
                f"use aggregate_replace() to make a changed copy"
            )
        if name not in self.__aggregate_fields__:
            raise AttributeError(f"{type(self).__name__} has no field '{name}'")
        on_host = self.__dict__[_BUILDING] == "host"
        if on_host and _is_launched_as(self.__aggregate_fields__[name], value):
            object.__setattr__(self, name, value)
        else:
            object.__setattr__(self, name, _as_field(value))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={self.__dict__.get(name)}" for name in self.__aggregate_fields__)
        return f"{type(self).__name__}({fields})"


def _aggregate(cls: type) -> Any:
    """Makes a class whose annotated members are fields of a kernel's value."""
    from ..runtime.jit import JITFunction

    for base in cls.__bases__:
        if base is not object and not issubclass(base, aggregate_value):
            raise TypeError(f"Aggregates can only inherit from other aggregates, not {cls.__name__} from {base.__name__}")
    if isinstance(cls.__dict__.get("__init__"), JITFunction):
        raise TypeError(f"the __init__ of aggregate {cls.__name__} cannot be a jit function")
    fields: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        if issubclass(base, aggregate_value):
            fields.update(base.__aggregate_fields__)
            defaults.update(base.__aggregate_defaults__)
    own = _own_annotations(cls)
    fields.update(own)
    defaults.update({name: cls.__dict__[name] for name in own if name in cls.__dict__})

    namespace = {
        key: value
        for key, value in cls.__dict__.items()
        if key not in ("__dict__", "__weakref__", "__init__", "__slots__") and key not in own
    }
    namespace["__aggregate_fields__"] = fields
    namespace["__aggregate_defaults__"] = defaults
    namespace["hash_attrs"] = [value for value in namespace.values() if hasattr(value, "cache_key")]
    if "__init__" in cls.__dict__:
        namespace["__aggregate_init__"] = cls.__dict__["__init__"]
    elif own:
        namespace["__aggregate_init__"] = _default_init
    bases = builtins.tuple(base for base in cls.__bases__ if base is not object) or (aggregate_value,)
    created = types.new_class(cls.__name__, bases, exec_body=lambda body: body.update(namespace))
    _repair_super(cls, created)
    return created


def _repair_super(old: type, created: type) -> None:
    """Makes `super()` in a method refer to the new class instead of the class of the `class`
    statement.
    """
    for member in old.__dict__.values():
        function = getattr(member, "fn", member)
        for name, cell in zip(
            getattr(getattr(function, "__code__", None), "co_freevars", ()),
            getattr(function, "__closure__", None) or (), strict=False,
        ):
            if name == "__class__" and cell.cell_contents is old:
                cell.cell_contents = created


aggregate = _aggregate


def _replaced(inst: Any, changes: dict[str, Any], on_host: bool) -> Any:
    if not isinstance(inst, aggregate_value):
        raise TypeError(f"aggregate_replace() expects an aggregate instance, got {type(inst).__name__}")
    cls: Any = type(inst)
    for name in changes:
        if name not in cls.__aggregate_fields__:
            raise TypeError(f"{cls.__name__} has no field '{name}'")
    created = cls._from_fields([changes.get(name, inst.__dict__[name]) for name in cls.__aggregate_fields__])
    for name, kind in cls.__aggregate_fields__.items():
        if on_host and _is_launched_as(kind, changes.get(name, inst.__dict__[name])):
            object.__setattr__(created, name, changes.get(name, inst.__dict__[name]))
    cls._check(created)
    return created


def aggregate_replace(inst: Any, *, _semantic: Any = None, **changes: Any) -> Any:
    """A copy of an aggregate with some fields changed."""
    return _replaced(inst, changes, on_host=_semantic is None)


aggregate_replace.__triton_builtin__ = True  # type: ignore[attr-defined]
