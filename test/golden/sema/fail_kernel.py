# Kernels and signatures that do not match.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:missing --signature 'i32' --target cpu -o - 2>&1 | FileCheck %s --check-prefix=NAME
# RUN: not nereid compile %s:kernel --signature '*fp32,tensordesc<fp16>' --target cpu -o - 2>&1 | FileCheck %s --check-prefix=KIND
# RUN: not nereid compile %s --signature 'i32' --target cpu -o - 2>&1 | FileCheck %s --check-prefix=AMBIGUOUS
# RUN: not nereid compile %s:kernel --signature 'i32' --target cpu -o - 2>&1 | FileCheck %s --check-prefix=COUNT
# RUN: not nereid compile %s:kernel --signature '*fp33,i32' --target cpu -o - 2>&1 | FileCheck %s --check-prefix=TYPE
# RUN: not nereid compile %s:kernel --signature '*fp32,constexpr<"tl.load(">' --target cpu -o - 2>&1 | FileCheck %s --check-prefix=CONSTANT
# RUN: not nereid compile %s:returns --signature 'i32' --target cpu -o - 2>&1 | FileCheck %s --check-prefix=RETURNS
# RUN: not nereid compile %t.none.py:kernel --signature 'i32' --target cpu -o - 2>&1 | FileCheck %s --check-prefix=FILE
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target abacus -o - 2>&1 | FileCheck %s --check-prefix=TARGET
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit cubin -o - 2>&1 | FileCheck %s --check-prefix=STAGE
import triton
import triton.language as tl


# COUNT: fail_kernel.py:[[#@LINE+2]]:5: error: kernel `kernel` has 2 parameters (x_ptr, n), but the signature `i32` has 1 entry [signature-count]
@triton.jit
def kernel(x_ptr, n):
    pass


@triton.jit
def returns(n):
    # RETURNS: :[[#@LINE+1]]:5: error: kernel `returns` returns a value; kernels write their results to memory [kernel-returns-value]
    return n


# NAME: error: `{{.*}}fail_kernel.py` has no kernel `missing`; its kernels are: kernel, returns [kernel-not-found]
# AMBIGUOUS: error: `{{.*}}fail_kernel.py` has 2 kernels; name one of: kernel, returns [kernel-ambiguous]
# TYPE: error: cannot read the signature `*fp33,i32` at {{.*}}[signature-invalid]
# KIND: error: `tensordesc<fp16>` is the type of no argument; a descriptor is spelled `tensordesc<fp16[64, 64]>` [signature-kind]
# CONSTANT: error: `tl.load(` is not a constant [signature-constant]
# FILE: error: cannot read `{{.*}}none.py`: No such file or directory [cannot-read-file]
# TARGET: error: target `abacus` is unknown; this build compiles for `cpu`
# STAGE: error: target `cpu` has no stage `cubin`; it has source, ttir, plan, llir, asm, so, launcher.so, artifact
