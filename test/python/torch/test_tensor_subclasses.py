"""Kernels take subclasses of torch.Tensor: what their classes define is respected, and costs nothing where it is little."""
# SPDX-License-Identifier: MIT

import pytest
import triton
import triton.language as tl

torch = pytest.importorskip("torch", reason="torch is not installed")


@triton.jit
def fill(out, value, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), value)


def filled(array, value=3.0):
    for _ in range(2):  # the second launch finds the kernel
        fill[(1,)](array, value, BLOCK=8)


def test_plain_subclass():
    class Plain(torch.Tensor):
        pass

    out = torch.zeros(8).as_subclass(Plain)
    filled(out)
    assert (out.as_subclass(torch.Tensor) == 3).all()


def test_view_of_a_subclass_starts_at_its_offset():
    class Plain(torch.Tensor):
        pass

    whole = torch.zeros(16)
    filled(whole.as_subclass(Plain)[4:12])
    assert whole.tolist() == [0] * 4 + [3] * 8 + [0] * 4


def test_subclass_of_parameter():
    class Weight(torch.nn.Parameter):
        pass

    out = Weight(torch.zeros(8), requires_grad=False)
    filled(out)
    assert (out.data == 3).all()


def counting_class():
    class Counting(torch.Tensor):
        calls = []  # noqa: RUF012

        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            cls.calls.append(function.__name__)
            return super().__torch_function__(function, types, args, kwargs or {})

    return Counting


def calls_of_launch(cls, out, value):
    cls.calls.clear()
    fill[(1,)](out, value, BLOCK=8)
    assert (out.as_subclass(torch.Tensor) == value).all()
    # A process that has had an AMD GPU asks for the size of the storage, too.
    return [name for name in cls.calls if name != "untyped_storage"]


def test_intercepting_tensor_is_asked_once():
    cls = counting_class()
    filled(torch.zeros(8).as_subclass(cls))
    out = torch.zeros(8).as_subclass(cls)
    assert calls_of_launch(cls, out, 4.0) == ["data_ptr"]
    assert calls_of_launch(cls, out, 5.0) == []


def test_intercepting_tensor_is_asked_again_when_its_memory_moves():
    cls = counting_class()
    out = torch.zeros(8).as_subclass(cls)
    filled(out)
    with torch._C.DisableTorchFunctionSubclass():
        out.set_(torch.zeros(8))
    assert calls_of_launch(cls, out, 4.0) == ["data_ptr"]


def test_new_tensor_in_the_place_of_a_freed_one_is_asked():
    cls = counting_class()
    memory, seen = torch.zeros(8), set()
    for _ in range(16):  # CPython gives the next object the place of the last one
        out = memory.as_subclass(cls)
        seen.add(id(out))
        assert calls_of_launch(cls, out, 4.0)[:1] == ["data_ptr"]
        del out
    assert len(seen) < 16


def test_intercepted_address_is_used():
    other = torch.zeros(8)

    class Elsewhere(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            if function is torch.Tensor.data_ptr:
                return other.data_ptr()
            return super().__torch_function__(function, types, args, kwargs or {})

    out = torch.zeros(8).as_subclass(Elsewhere)
    filled(out)
    assert (other == 3).all() and (out.as_subclass(torch.Tensor) == 0).all()


def test_own_method_is_used():
    other = torch.zeros(8)

    class Elsewhere(torch.Tensor):
        def data_ptr(self):
            return other.data_ptr()

    filled(torch.zeros(8).as_subclass(Elsewhere))
    assert (other == 3).all()


def test_own_dtype_is_used():
    class Halves(torch.Tensor):
        dtype = torch.float16

    out = torch.zeros(4).as_subclass(Halves)
    filled(out)
    assert (out.as_subclass(torch.Tensor).view(torch.float16) == 3).all()


def test_subclass_without_memory_is_an_error():
    class Wrapper(torch.Tensor):
        @staticmethod
        def __new__(cls, shape):
            return torch.Tensor._make_wrapper_subclass(cls, shape)

        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            raise NotImplementedError(function)

        def data_ptr(self):
            raise RuntimeError("no memory here")

    with pytest.raises(RuntimeError, match="no memory here"):
        fill[(1,)](Wrapper((8,)), 3.0, BLOCK=8)
