"""Settings of a program: descriptors that read environment variables at each use, and groups of them."""

# SPDX-License-Identifier: MIT
#
# A descriptor belongs to a class derived from `base_knobs`. An assignment takes precedence over the environment until
# it is deleted, and is written to it, so that child processes use the same value.
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

SetType = TypeVar("SetType")
GetType = TypeVar("GetType")
ClassType = TypeVar("ClassType")


class Env:
    """Assigning it makes a knob read the environment again: `knobs.cache.dir = knobs.env`."""


env = Env()

_TRUE = ("1", "true", "on", "yes", "y")


def getenv(key: str, default: str | None = None) -> str | None:
    value = os.environ.get(key)
    return default if value is None else value.strip()


def getenv_bool(key: str, default: Any = False) -> Any:
    """An empty variable counts as unset."""
    text = getenv(key)
    return text.lower() in _TRUE if text else default


def setenv(key: str, value: str | None) -> None:
    from . import knobs

    if not knobs.propagate_env:
        return
    if value is None:
        os.environ.pop(key, None)
    else:
        os.environ[key] = value


def toenv(value: Any) -> tuple[str | None] | None:
    """The text of a value; a tuple of None if the variable is to be unset; None for a value without
    a text.
    """
    if value is None:
        return (None,)
    if isinstance(value, bool):
        return ("1" if value else "0",)
    return (str(value),) if isinstance(value, (str, int)) else None


def _changed() -> None:
    from . import knobs

    knobs._settings_changed()


class env_base(Generic[SetType, GetType]):
    """One setting; `get` reads the environment."""

    def __init__(self, key: str):
        self.key = key

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def get(self) -> Any:
        raise NotImplementedError

    def transform(self, value: Any) -> Any:
        """Converts an assigned value to the value that readers get."""
        return value

    def __get__(self, group: Any, owner: type | None = None) -> Any:
        if group is None:
            return self
        if self.name in group.__dict__:
            return self.transform(group.__dict__[self.name])
        return self.get()

    def __set__(self, group: Any, value: Any) -> None:
        if isinstance(value, Env):
            group.__dict__.pop(self.name, None)
            return
        group.__dict__[self.name] = value
        text = toenv(value)
        if text is not None:
            setenv(self.key, text[0])

    def __delete__(self, group: Any) -> None:
        group.__dict__.pop(self.name, None)

    def chosen(self, group: Any) -> Any:
        """The raw value of the assignment or of the environment; None for neither."""
        return group.__dict__.get(self.name) or getenv(self.key) or None


class env_str(env_base[str, str]):
    def __init__(self, key: str, default: str):
        super().__init__(key)
        self.default = default

    def get(self) -> Any:
        return getenv(self.key, self.default)


class env_choice(env_base[str, str]):
    """One of several words; the first is the default."""

    def __init__(self, key: str, *words: str):
        super().__init__(key)
        self.words = words

    def get(self) -> Any:
        return self.transform(getenv(self.key) or self.words[0])

    def transform(self, value: Any) -> Any:
        if value not in self.words:
            raise ValueError(f"{self.key} is {value!r}; it must be {' or '.join(self.words)}")
        return value


class env_str_callable_default(env_base[str, str]):
    def __init__(self, key: str, default_factory: Callable[[], str]):
        super().__init__(key)
        self.default_factory = default_factory

    def get(self) -> Any:
        text = getenv(self.key)
        return self.default_factory() if text is None else text


class env_bool(env_base[bool, bool]):
    def __init__(self, key: str, default: bool = False):
        super().__init__(key)
        self.default = default

    def get(self) -> Any:
        return getenv_bool(self.key, self.default)


class env_int(env_base[int, int]):
    def __init__(self, key: str, default: int = 0):
        super().__init__(key)
        self.default = default

    def get(self) -> Any:
        text = getenv(self.key)
        if not text:
            return self.default
        try:
            return int(text)
        except ValueError as error:
            raise RuntimeError(f"Unable to use {self.key}={text}: expected int") from error


class env_opt_str(env_base[str, str]):
    def get(self) -> Any:
        return getenv(self.key)


class env_opt_bool(env_base[bool, bool]):
    def get(self) -> Any:
        return getenv_bool(self.key, None)


class env_class(env_base[Any, Any], Generic[ClassType]):
    """A class named as "module:Class"; it or a base of it has the name `type`."""

    def __init__(self, key: str, type: str):  # noqa: A002
        super().__init__(key)
        self.type = type

    def get(self) -> Any:
        import importlib

        text = getenv(self.key)
        if not text:
            return None
        module, separator, name = text.partition(":")
        if not separator:
            raise RuntimeError(
                f"Unable to read {self.key}: '{text}' isn't of the form MODULE:CLASS"
            )
        cls = getattr(importlib.import_module(module), name)
        if self.type not in (base.__name__ for base in cls.__mro__):
            raise RuntimeError(f"Unable to use '{text}' from {self.key}: not of type '{self.type}'")
        return cls


class base_knobs:
    """Settings of one area: descriptors with an environment variable, and plain attributes."""

    @property
    def knob_descriptors(self) -> dict[str, env_base[Any, Any]]:
        return {
            name: value for name, value in vars(type(self)).items() if isinstance(value, env_base)
        }

    @property
    def knobs(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.knob_descriptors}

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        _changed()

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        _changed()

    def copy(self) -> Any:
        twin = type(self)()
        twin.__dict__.update(self.__dict__)
        return twin

    def reset(self) -> Any:
        """Drops all assignments to the descriptors."""
        for name in self.knob_descriptors:
            self.__dict__.pop(name, None)
        _changed()
        return self

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Restores values and environment on leaving."""
        keys = [knob.key for knob in self.knob_descriptors.values()]
        values, environment = dict(self.__dict__), {key: os.environ.get(key) for key in keys}
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(values)
            for key, text in environment.items():
                if text is None:
                    os.environ.pop(key, None)
                else:
                    os.environ[key] = text
            _changed()
