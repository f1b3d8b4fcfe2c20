"""What every result of `triton.jit` is: a function with options that is launched over a grid."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakValueDictionary

from .._C.libtriton import call_of_user
from .callable import JITCallable
from .params import make_params
from .tensors import MockTensor

if TYPE_CHECKING:
    from .variants.variant import Variant

T = TypeVar("T")


def is_traced() -> bool:
    """Whether PyTorch traces this call: then it has to see through it."""
    torch = sys.modules.get("torch")
    return hasattr(torch, "compiler") and torch.compiler.is_compiling()  # type: ignore[union-attr]


class KernelInterface(Generic[T]):
    """Anything that can be launched as `kernel[grid](...)`."""

    run: Any

    def warmup(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Compiles for these arguments without launching; torch dtypes replace tensors."""
        return call_of_user(self._compile_only, *args, grid=grid, **kwargs)

    def _compile_only(self, *args: Any, **kwargs: Any) -> Any:
        if "grid" not in kwargs:
            raise TypeError("`warmup` takes a `grid`, as in `kernel.warmup(x, n, grid=(1,))`")
        return self.run(*map(MockTensor.wrap_dtype, args), warmup=True, **kwargs)

    def specializations(self, domain: Any, *, target: Any = None, **options: Any) -> list[Variant]:
        """The variants that launches with arguments of a domain reach, each once.

        A domain is a dict: parameter or launch option -> what it may be given; several are a list of
        dicts. A list or set contains alternatives. A dtype (`torch.float16`, `np.float32`) is a tensor
        at an address that is a multiple of 16, `triton.pointer(dtype, aligned=[True, False])` at any;
        `triton.descriptor(dtype, block_shape)` a tensor descriptor; `int`, `float`, `bool`, a range or
        numbers are scalars; a tuple is an argument that is a tuple. Integers are reduced to their
        classes. Constants are listed by their values. Parameters that are left out have their defaults,
        or what a `heuristics` computes; an autotuned kernel has the variants of each configuration.

        `target` is a GPUTarget, or its text ("cuda:90"); by default that of launches. Other keywords are
        launch options.
        """
        from .variants.specializations import specializations

        return specializations(self, domain, target, **options)

    def compile_all(
        self, domain: Any, *, target: Any = None, workers: int | None = None, **options: Any
    ) -> list[Any]:
        """Compiles `specializations(domain)` on threads, by default as many as there are processors,
        and returns the kernels. Launches with arguments of the domain then find theirs: in this process
        if the target is that of launches, and on disk.
        """
        from .variants.compile_all import compile_all

        return compile_all(self, domain, target, workers, options)

    def __getitem__(self, grid: Any) -> Any:
        if is_traced():
            return functools.partial(self.run, grid=grid, warmup=False)
        return functools.partial(call_of_user, self.run, grid=grid, warmup=False)


# The latest function of each name: `preload` finds functions inside functions by it.
functions_by_name: WeakValueDictionary[str, Any] = WeakValueDictionary()


class DecoratedFunction(JITCallable, KernelInterface[T]):
    """The result of `triton.jit`, with its options."""

    def __init__(
        self,
        fn: Callable[..., Any],
        version: Any = None,
        do_not_specialize: Any = None,
        do_not_specialize_on_alignment: Any = None,
        debug: bool | None = None,
        noinline: bool | None = None,
        repr: Callable[[Any], str] | None = None,  # noqa: A002
        launch_metadata: Callable[..., Any] | None = None,
    ):
        super().__init__(fn)
        self.module = fn.__module__
        self.version = version
        self.debug = debug
        self.noinline = noinline
        self.launch_metadata = launch_metadata
        self.do_not_specialize = list(do_not_specialize or [])
        self.do_not_specialize_on_alignment = list(do_not_specialize_on_alignment or [])
        self._repr = repr
        self.params = make_params(
            self.signature, self.do_not_specialize, self.do_not_specialize_on_alignment
        )
        self.arg_names = [param.name for param in self.params]
        self.constexprs = [param.num for param in self.params if param.is_constexpr]
        self.pre_run_hooks: list[Callable[..., Any]] = []
        functions_by_name[f"{self.module}:{self.__qualname__}"] = self

    def reject_contradictions(self) -> None:
        """Raises an error for a parameter that is a constant and listed as not to be specialised."""
        from ..compiler.errors import CompilationError

        for param in self.params:
            if param.is_constexpr and (
                param.do_not_specialize or param.do_not_specialize_on_alignment
            ):
                raise CompilationError(
                    self.src,
                    None,
                    f"{param.name} marked as constexpr and listed in do_not_specialize/"
                    "do_not_specialize_on_alignment; remove one of the two",
                )

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """Calls `hook` with the arguments and keywords of every launch."""
        assert callable(hook)
        self.pre_run_hooks.append(hook)
