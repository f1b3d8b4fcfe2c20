"""The read-only walk over IR by which PyTorch finds what a kernel writes."""
# SPDX-License-Identifier: MIT

import gc

import pytest
import triton
import triton.language as tl
from triton._C import libtriton


@triton.jit
def put(ptr, value):
    tl.store(ptr, value)


@triton.jit
def kernel(out_ptr, n, C: tl.constexpr):
    for i in range(n):
        put(out_ptr + i, C)


def make_module():
    target = triton.runtime.driver.active.get_current_target()
    signature = {"out_ptr": "*fp32", "n": "i32", "C": "constexpr"}
    attributes = {(0,): [["tt.divisibility", 16]]}
    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    return libtriton.make_ir(kernel, signature, {(2,): 3}, attributes, target, {}, context)


def operations(module):
    found = []
    module.walk(found.append)
    return found


def test_walk_visits_the_kernel_first_and_inner_operations_before_outer_ones():
    found = operations(make_module())
    functions = [op.get_str_attr("sym_name") for op in found if op.get_name() == "tt.func"]
    assert functions[0] == "kernel" and "put" in functions[1] and len(functions) == 2
    names = [op.get_name() for op in found]
    assert (
        names.index("tt.call")
        < names.index("scf.for")
        < names.index("tt.func")
        < names.index("tt.store")
    )
    assert names[-1] == "builtin.module" and found[-1].get_block() is None


def test_values_have_lasting_ids():
    found = operations(make_module())
    gc.collect()  # the module lives as long as its parts
    call = next(op for op in found if op.get_name() == "tt.call")
    assert "put" in call.get_flat_symbol_ref_attr("callee")
    pointer = next(op for op in found if op.get_name() == "tt.addptr")
    assert call.get_operand(0).id() == pointer.get_result(0).id()
    function = next(op for op in found if op.get_str_attr("sym_name") == "kernel")
    loop = next(op for op in found if op.get_name() == "scf.for")
    assert function.get_region(0).id() == loop.get_block().get_parent().id()
    assert loop.get_block().get_num_arguments() == 2
    assert pointer.get_operand(0).id() == loop.get_block().get_argument(0).id()


def test_bounds_and_errors():
    module = make_module()
    assert module.verify() and module.get_entry_func_name() == "kernel"
    store = next(op for op in operations(module) if op.get_name() == "tt.store")
    with pytest.raises(IndexError, match="operand 9 of 2"):
        store.get_operand(9)
    assert store.get_bool_attr("pure") is None

    def stop(op):
        raise LookupError(op.get_name())

    with pytest.raises(LookupError):
        module.walk(stop)


def test_text_can_be_read_again(tmp_path):
    path = tmp_path / "kernel.ttir"
    path.write_text(make_module().str())
    context = libtriton.ir.context()
    module = libtriton.ir.parse_mlir_module(str(path), context)
    assert module.verify() and module.str() == path.read_text()
    path.write_text("module {")
    with pytest.raises(triton.CompilationError, match="cannot read this IR"):
        libtriton.ir.parse_mlir_module(str(path), context)


def test_constants_and_names():
    module = make_module()
    values = {
        op.get_constant_value() for op in operations(module) if op.get_name() == "arith.constant"
    }
    assert values == {0, 1, None}  # None of the float
    assert all(
        op.get_constant_value() is None for op in operations(module) if op.get_name() == "tt.func"
    )
    assert module.parameter_types() == ["!tt.ptr<f32>", "i32"]
    assert "%out_ptr" in str(module) and "%out_ptr" not in module.str_nodebug()
    assert "%c0_i32" in module.str_nodebug() and "loc(" not in module.str_nodebug()
