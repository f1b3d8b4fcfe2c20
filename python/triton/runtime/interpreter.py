"""`TRITON_INTERPRET=1`: Python itself runs the body of a kernel, so that `print` and breakpoints work in it."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import itertools
import types
from typing import TYPE_CHECKING, Any

from .. import knobs
from .._C.libtriton import JITBase
from .._lazy import lazy_names
from ..language import values as language_values
from .binder import Binder, normalize_grid
from .decorated import DecoratedFunction
from .errors import InterpreterError
from .jit import _describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._interpreter.body import Body
    from .._interpreter.refusals import Refusals
    from .._interpreter.session import Session
    from ..compiler.errors import Diagnostic

__all__ = ["InterpretedFunction", "InterpreterError"]


class InterpretedFunction(DecoratedFunction[Any], JITBase):  # type: ignore[misc]
    """The result of `triton.jit` in interpreter mode. The compiler compiles it if an operation
    calls it.
    """

    def _read_source(self) -> None:
        try:
            super()._read_source()
        except ValueError:  # Python has the code, but not the text
            import inspect

            self.signature = inspect.signature(self.fn)
            self.raw_src, self._src = [], ""
            self.file_name = self.fn.__code__.co_filename
            self.starting_line_number = self.fn.__code__.co_firstlineno
            self.def_file_line_number, self.def_file_col_number = self.starting_line_number, 0
        self.__signature__ = self.signature

    @functools.cached_property
    def body(self) -> Body:
        from .._interpreter.body import Body

        return Body(self)

    @functools.cached_property
    def refusals(self) -> Refusals:
        from .._interpreter.refusals import Refusals

        return Refusals(self)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"InterpretedFunction({self.module}:{self.__qualname__})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A call from another kernel's body."""
        from .._interpreter.session import current

        return current().call(self, args, kwargs)

    def warmup(self, *args: Any, grid: Any, **kwargs: Any) -> None:
        """Compiles nothing ahead: operations are compiled when a program first executes them."""

    def bind(self, *args: Any, **kwargs: Any) -> Any:
        """A handle that interprets the kernel; it takes any arguments."""
        from .bound import InterpretedHandle

        return InterpretedHandle(self, Binder(self.__name__, self.params).bind(args, kwargs))

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> None:
        """Runs the programs one after the other, x fastest; one that waits lets later ones run."""
        if warmup:
            return
        kwargs.pop("stream", None)
        if self.debug or knobs.runtime.debug:
            kwargs["debug"] = True
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        bound = Binder(self.__name__, self.params).bind(args, kwargs)
        extents = normalize_grid(grid, bound)
        if 0 not in extents:
            self._run_programs(bound, extents, kwargs)

    def _run_programs(
        self, bound: dict[str, Any], grid: tuple[int, int, int], kwargs: dict[str, Any]
    ) -> None:
        from .._interpreter import refusals
        from .._interpreter.arguments import HostMemory, as_seen
        from .._interpreter.scheduler import ProgramScheduler
        from .._interpreter.session import Session
        from ..backends.cpu.driver import CPUDriver
        from ..compiler import make_backend

        target = (
            CPUDriver().get_current_target()
        )  # also where a simulated GPU takes the CPU's tensors
        binder = Binder(self.__name__, self.params, make_backend(target))
        chosen = binder.options(
            {name: value for name, value in kwargs.items() if name not in _IGNORED}
        )
        options = {name: value for name, value in chosen.items() if name in _MEANINGFUL}
        memory = HostMemory()
        bound = {name: memory.argument(value) for name, value in bound.items()}
        session = Session(grid, target, options)
        specialization = binder.specialize(bound)

        def refused() -> list[Diagnostic]:
            described = _describe(bound, specialization, binder.backend)
            return self.refusals.of(described, target, binder.backend.parse_options(options))

        with language_values.semantic_for_host(session.semantic):
            seen = [
                as_seen(session, value, kind)
                for value, (kind, _) in zip(bound.values(), specialization, strict=True)
            ]
            args, keywords = self._as_called(dict(zip(bound, seen, strict=True)))
            programs = ((x, y, z) for z, y, x in itertools.product(*map(range, reversed(grid))))
            session.scheduler = ProgramScheduler(
                session, programs, lambda: self._run_program(session, args, keywords, refused)
            )
            session.scheduler.run()
        memory.bring_back()
        refusals.warn(refused())

    def _as_called(self, seen: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The values of the parameters as positional arguments and keywords of the body."""
        args: list[Any] = []
        keywords: dict[str, Any] = {}
        for name, parameter in self.signature.parameters.items():
            if parameter.kind is parameter.KEYWORD_ONLY:
                keywords[name] = seen[name]
            elif parameter.kind is parameter.VAR_POSITIONAL:
                args += seen[name]
            else:
                args.append(seen[name])
        return args, keywords

    def _run_program(
        self,
        session: Session,
        args: list[Any],
        keywords: dict[str, Any],
        refused: Callable[[], list[Diagnostic]],
    ) -> None:
        try:
            session.call(self, args, keywords)
        except InterpreterError:
            raise
        except Exception as error:
            from .._interpreter import refusals

            location = _location_of(error, session.codes)
            shown = "" if location is None else f"{location[0]}:{location[1]}: "
            same = None if location is None else refusals.at(refused(), *location)
            message = _message_of(error)
            if same is not None:
                own = f" ({message})" if _is_users(error, session.codes) else ""
                shown = f"{same.file}:{same.line}:{same.column}: "
                message = f"{same.message}{own} [{same.code}]"
            failure = InterpreterError(
                f"{shown}in program {session.program} of `{self.__name__}`: {message}"
            )
            failure._wrap(error)
            raise failure.with_traceback(error.__traceback__) from None


# Launch options that have an effect in interpreter mode.
_MEANINGFUL = ("debug", "sanitize_overflow", "enable_fp_fusion", "default_dot_input_precision")
_IGNORED = ("maxnreg", "launch_cooperative_grid", "launch_pdl")


def _location_of(error: BaseException, codes: set[Any]) -> tuple[str, int, int] | None:
    """The innermost expression of a kernel's text in the traceback of an exception: its file, first and last line."""
    location, entry = None, error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if code in codes:
            location = code.co_filename, entry.tb_lineno, _last_line(code, entry)
        entry = entry.tb_next
    return location


def _last_line(code: types.CodeType, entry: types.TracebackType) -> int:
    """Python 3.10 knows the first line of an expression only."""
    positions = list(code.co_positions()) if hasattr(code, "co_positions") else []
    index = entry.tb_lasti // 2
    last = positions[index][1] if index < len(positions) else None
    return entry.tb_lineno if last is None else last


def _is_users(error: BaseException, codes: set[Any]) -> bool:
    """Whether Python code of the user's raised it that is no kernel's: its message says what no other does."""
    from .dependencies.libraries import library_text

    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    if entry is None or entry.tb_frame.f_code in codes:
        return False
    return library_text(entry.tb_frame.f_globals.get("__name__")) is None


def _message_of(error: Exception) -> str:
    from .._interpreter.operations import LOCATION

    text = LOCATION.sub("", getattr(error, "error_message", None) or str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


__getattr__ = lazy_names(
    __name__,
    {
        "triton.runtime.jit": "KernelInterface T",
        "triton.tools.tensor_descriptor": "TensorDescriptor",
        "triton.language.semantic": "TritonSemantic",
    },
)
