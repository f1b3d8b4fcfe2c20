# Names and attributes that are undefined here.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl

PLAIN = 42


@triton.jit
def kernel(x_ptr, n):
    block_start = n
    # CHECK: :[[#@LINE+1]]:5: error: block_strat is not defined; did you mean `block_start`? [undefined-name]
    block_strat + 1
    # CHECK-NEXT: block_strat + 1
    # CHECK-NEXT: ^~~~~~~~~~~
    # CHECK: :[[#@LINE+1]]:8: error: module `triton.language` has no attribute `laod`; did you mean `load`? [module-attribute]
    tl.laod(x_ptr)
    # CHECK: :[[#@LINE+1]]:5: error: rnage is not defined; did you mean `range`? [undefined-name]
    rnage(n)
    # CHECK: :[[#@LINE+1]]:7: error: `int32` has no attribute `dtpye`; did you mean `dtype`? [no-attribute]
    n.dtpye
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `int32` has no attribute `is_floatin`; did you mean `is_floating`? [no-attribute]
    n.dtype.is_floatin()
    # CHECK: :[[#@LINE+1]]:7: error: `int32` has no attribute `colour` [no-attribute]
    n.colour
    # CHECK: :[[#@LINE+1]]:5: error: Cannot access global variable PLAIN from within @jit'ed function{{.*}}[host-exception]
    PLAIN + 1


# RUN: not nereid compile %s:unfinished --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s --check-prefix=LOST
@triton.jit
def unfinished(x_ptr, n):
    # LOST: :[[#@LINE+6]]:21: error: i is not defined [undefined-name]
    # LOST: :[[#@LINE+3]]:13: note: `i` is the variable of this loop and has no value here
    total = 0
    if n > 3:
        for i in range(n):
            total += i
    tl.store(x_ptr, i)


# RUN: not nereid compile %s:one_side --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s --check-prefix=SIDE
@triton.jit
def one_side(x_ptr, n):
    if n > 3:
        # SIDE: :[[#@LINE+3]]:21: error: value is not defined [undefined-name]
        # SIDE: :[[#@LINE+1]]:9: note: `value` gets a value here, but not on every way to its use
        value = 1.0
    tl.store(x_ptr, value)


# RUN: not nereid compile %s:own_statement --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s --check-prefix=OWN
@triton.jit
def own_statement(x_ptr, n):
    # OWN: :[[#@LINE+2]]:5: error: total is not defined [undefined-name]
    # OWN-NOT: note:
    total += n
    # OWN: :[[#@LINE+2]]:23: error: step is not defined [undefined-name]
    # OWN-NOT: note:
    for step in range(step):
        tl.store(x_ptr, n)


# RUN: not nereid compile %s:from_python --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s --check-prefix=PYTHON
@triton.jit
def from_python(x_ptr, n):
    # PYTHON: :[[#@LINE+1]]:5: error: breakpoint is not defined; it stops in interpreter mode, with TRITON_INTERPRET=1 [undefined-name]
    breakpoint()
    # PYTHON: :[[#@LINE+1]]:5: error: sum is not defined; use `tl.sum` [undefined-name]
    sum(tl.arange(0, 4))
    # PYTHON: :[[#@LINE+1]]:5: error: round is not defined; use `libdevice.rint` [undefined-name]
    round(1.5)
    # PYTHON: :[[#@LINE+1]]:17: error: enumerate is not defined; loop over the indices with `range` or `tl.static_range` [undefined-name]
    for i, j in enumerate((1, 2)):
        pass
    # PYTHON: :[[#@LINE+2]]:10: error: open is not defined; kernels reach memory only, through their arguments [undefined-name]
    # PYTHON-NOT: cannot be called
    with open("x") as f:
        pass
    # PYTHON: :[[#@LINE+1]]:5: error: index 0 is out of range for a tuple of 0 elements [index-out-of-range]
    x_ptr.shape[0]
    # PYTHON: note: scalars and pointers have no dimensions; pass the extent of the array as an argument
    # PYTHON: :[[#@LINE+1]]:5: error: {{.*}}fewer dimensions than the 1 indices here; read memory with `tl.load` [too-many-indices]
    x_ptr[0]
    # PYTHON: :[[#@LINE+1]]:5: error: pointer<fp32> has no len(); only tuples and text have one; pass the number of elements as an argument [no-length]
    len(x_ptr)
