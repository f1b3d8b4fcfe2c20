# What Python and arrays have, and kernels lack: each message says what serves instead.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    x = tl.load(x_ptr + tl.arange(0, 16))
    # CHECK: :[[#@LINE+1]]:5: error: abs is not defined; use `tl.abs` [undefined-name]
    abs(x)
    # CHECK: :[[#@LINE+1]]:5: error: type is not defined; use `.dtype`, or `isinstance` [undefined-name]
    type(x)
    # CHECK: :[[#@LINE+1]]:5: error: str is not defined; print tensors with `tl.device_print` [undefined-name]
    str(x)
    # CHECK: :[[#@LINE+1]]:5: error: divmod is not defined; use `//` and `%` [undefined-name]
    divmod(n, 2)
    # CHECK: :[[#@LINE+1]]:5: error: next is not defined; loop with `range` or `tl.static_range` [undefined-name]
    next(x)
    # CHECK: :[[#@LINE+1]]:5: error: eval is not defined; kernels are compiled, and run no text [undefined-name]
    eval("x")
    # CHECK: :[[#@LINE+1]]:16: error: unsupported operand type(s) for %: `str` and `fp32[16]`; a tensor has no value while the kernel compiles: pass it to `tl.device_print` as an argument [unsupported-operator]
    print("%f" % x)
    # CHECK: :[[#@LINE+1]]:18: error: unsupported operand type(s) for +: `str` and `int32`; a tensor has no value{{.*}}[unsupported-operator]
    print("n = " + n)
    # CHECK: :[[#@LINE+1]]:15: error: {{.*}}, found int32; pass it as an argument: `print("x", x)`, `tl.device_print("x", x)` [format-not-constant]
    print(f"n {n}")
    # CHECK: :[[#@LINE+1]]:7: error: `fp32[16]` has no attribute `float`; use `.to(tl.float32)` [no-attribute]
    x.float()
    # CHECK: :[[#@LINE+1]]:7: error: `fp32[16]` has no attribute `half`; use `.to(tl.float16)` [no-attribute]
    x.half()
    # CHECK: :[[#@LINE+1]]:7: error: `fp32[16]` has no attribute `astype`; use `.to(...)` with a dtype [no-attribute]
    x.astype(tl.int32)
    # CHECK: :[[#@LINE+1]]:7: error: `fp32[16]` has no attribute `mean`; divide `tl.sum` by the count [no-attribute]
    x.mean()
    # CHECK: :[[#@LINE+1]]:7: error: `fp32[16]` has no attribute `unsqueeze`; index with `[:, None]`{{.*}} [no-attribute]
    x.unsqueeze(0)
    # CHECK: :[[#@LINE+1]]:11: error: `pointer<fp32>` has no attribute `stride`; kernels do not know the arrays behind pointers; pass it as an argument [no-attribute]
    x_ptr.stride(0)
    # CHECK: :[[#@LINE+1]]:11: error: `pointer<fp32>` has no attribute `size`; kernels do not know the arrays{{.*}} [no-attribute]
    x_ptr.size(0)
    # CHECK: :[[#@LINE+1]]:14: error: {{.*}} found tuple; loop over its indices: `for i in tl.static_range(len(values))` [iterator-not-range]
    for i in [1, 2]:
        pass
    # CHECK: :[[#@LINE+1]]:14: error: {{.*}} found tensor; loop over indices, and load the element of each from memory [iterator-not-range]
    for v in x:
        pass
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: Delete; leave it out: a kernel's names hold no memory [unsupported-statement]
    del x
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: ClassDef; define the class at module level{{.*}} [unsupported-statement]
    class Pair:
        pass
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: Match; write it with `if` and `elif` [unsupported-statement]
    match n:
        case 1:
            pass
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: Import; import at module level [unsupported-statement]
    import math as m
    # CHECK-NOT: m is not defined
    m.pi
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: Yield; kernels run to their end at once; store each value through a pointer [unsupported-expression]
    yield n
    # CHECK: :[[#@LINE+1]]:12: error: module `triton` has no attribute `exp`; use `tl.exp` [module-attribute]
    triton.exp(x)
    # CHECK: :[[#@LINE+1]]:12: error: module `triton` has no attribute `float16`; use `tl.float16` [module-attribute]
    triton.float16
    # CHECK: :[[#@LINE+1]]:8: error: module `triton.language` has no attribute `jit`; use `triton.jit` [module-attribute]
    tl.jit
    # CHECK: :[[#@LINE+1]]:14: error: `range` is missing the argument `arg1`; write `range(stop)`, `range(start, stop)` or `range(start, stop, step)` [missing-argument]
    for i in range():
        pass
    # CHECK: :[[#@LINE+1]]:10: error: `with` takes an object of the host with `__enter__` and `__exit__`, found int32; kernels have no other contexts [not-a-context]
    with n:
        pass
    # CHECK: :[[#@LINE+1]]:5: error: Simultaneous multiple assignment is not supported; write one assignment a line [multiple-assignment]
    a = b = 1
    # CHECK-NOT: is not defined
    a + b
    # CHECK: :[[#@LINE+1]]:13: error: Unsupported ptr type tensor descriptor in `tl.load`; {{.*}}; a tensor descriptor has methods: `d.load(offsets)` [not-a-pointer]
    tl.load(tl.make_tensor_descriptor(x_ptr, [n], [1], [16]))
    # CHECK: :[[#@LINE+1]]:5: error: {{.*}} `not` needs int1 tensors, but this is int32; compare it with 0 instead [logic-needs-bool]
    not n
    # CHECK: :[[#@LINE+1]]:7: error: `in` is not supported between `int32` and `tuple`; compare with each element: `(x == 1) | (x == 2)` [unsupported-comparison]
    n in (1, 2)
    # CHECK: :[[#@LINE+1]]:5: error: unsupported operand type(s) for +: `NoneType` and `int`; a function that returns nothing gives None, and so does a parameter without a value [unsupported-operator]
    None + 1
