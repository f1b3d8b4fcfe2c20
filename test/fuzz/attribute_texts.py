"""Attributes of wrong kinds and out of range, in valid modules: inherent, discardable, of encodings and of the module."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import random
import re

VALUES = """unit true false 0:i32 -1:i32 1024:i32 3:i64 1099511627776:i64 7:i1 1:i8 77:i17 5:index 1.5:f32
0x7FC00000:f32 "x" "" @sym @a::@b i32 index f32 !tt.ptr<f32> tensor<8xf32> (i32)->i32 none [] [1:i32] ["x",unit] {}
{a=1:i32} array<i32> array<i32:1,2> array<i64:1> array<i1:true> array<i8:1> array<f32:1.0> array<index:1> array<index>
dense<1>:tensor<2xi32> dense<[1,2]>:tensor<2xi64> dense<1.0>:tensor<1xf32> dense<>:tensor<0xi32>
dense<true>:tensor<4xi1> dense<"0x01000000">:tensor<1xi32> sparse<0,1>:tensor<4xi32>
dense_resource<blob>:tensor<1xi32> affine_map<(d0)->(d0)> affine_set<(d0):(d0>=0)> loc(unknown) loc("a":1:2)
strided<[1]> #tt.cache_policy<cache_modifier=cg,eviction_policy=evict_first>
#ttg.blocked<{sizePerThread=[1],threadsPerWarp=[32],warpsPerCTA=[4],order=[0]}> #llvm.loop_annotation
#llvm.loop_unroll<disable=true> #arith.fastmath<fast> #arith.overflow<nsw> distinct[0]<unit> opaque<"tt","0x01">
#unknown.x #ttg.shared_memory vector<4xi32> memref<4xf32> complex<f32> tuple<i32> 10000000000000000000000000:i64
18446744073709551615:i64 -9223372036854775808:i64 1:ui32 -1:si8 dense<0>:vector<1xi32> 1.0:i32 1:f32""".split()
NUMBERS = "0 -1 3 1024 1099511627776 2 4 8 16 64 33 100000 -9223372036854775808 18446744073709551616".split()
NAMES = """isVolatile cache evict boundaryCheck padding axis order value predicate start end fastmath overflowFlags
operandSegmentSizes resultSegmentSizes inputPrecision maxNumImpreciseAcc allow_reorder efficient_layout libname libpath
symbol pure asm_string constraints packed_element hex prefix isSigned message atomic_rmw_op sem scope rounding
a_elem_type b_elem_type fastMath lhs_k_pack rhs_k_pack reverse bitwidth sym_name sym_visibility function_type arg_attrs
res_attrs callee cachePolicy kind num pack noinline unsignedCmp partitionNumWarps requestedRegisters warpGroupStartIds
tt.divisibility tt.contiguity tt.constancy tt.pointer_range tt.num_stages tt.loop_unroll_factor tt.flatten
tt.warp_specialize tt.disallow_acc_multi_buffer tt.nv_tma_desc tt.latency tt.disable_licm loop_annotation
llvm.loop_annotation ttg.num-warps ttg.num-ctas ttg.threads-per-warp ttg.target ttg.maxnreg ttg.shared
ttg.total-num-warps ttg.global_scratch_memory_size loop.stage loop.cluster tt.num_buffers tt.scheduled_max_stage
ttg.partition allocation.offset allocation.size offset mask vec perPhase maxPhase amdg.pipeliner_part""".split()

ITEM = re.compile(r'([\w.$-]+|"[^"\n]*") = ([^,{}\n]+?)(?=[,}])')
DICTIONARY = re.compile(r'<?\{(?=[\w"}][^\n]*\}>?)')
NUMBER = re.compile(r"(?<![\w.%@#^!:-])-?\d+(?![\w.])")
OP = re.compile(r"(?m)^(\s*(?:%[\w:, %]+ = )?(?:[a-z]+\.[\w.]+)[^\n{}]*?)( : [^\n]*)$")


def attribute(rng: random.Random, depth: int = 0) -> str:
    chance = rng.random() if depth < 3 else 1
    if chance < 0.1:
        return "[" + ", ".join(attribute(rng, depth + 1) for _ in range(rng.randrange(4))) + "]"
    if chance < 0.15:
        parts = (f"k{index} = {attribute(rng, depth + 1)}" for index in range(rng.randrange(3)))
        return "{" + ", ".join(parts) + "}"
    return rng.choice(VALUES)


def mutate(text: str, rng: random.Random) -> str:
    for _ in range(rng.choice((1, 1, 1, 2))):
        kind = rng.randrange(11)
        pattern = (
            ITEM
            if kind in (0, 1, 2, 8, 9)
            else DICTIONARY
            if kind < 5
            else OP
            if kind < 8
            else NUMBER
        )
        sites = list(pattern.finditer(text))
        if not sites:
            continue
        site = rng.choice(sites)
        if kind < 3:  # another value
            text = text[: site.start(2)] + attribute(rng) + text[site.end(2) :]
        elif kind < 5:  # one more in a dictionary
            text = (
                text[: site.end()]
                + f"{rng.choice(NAMES)} = {attribute(rng)}, "
                + text[site.end() :]
            )
        elif kind < 8:  # a dictionary of one
            more = f" {{{rng.choice(NAMES)} = {attribute(rng)}}}"
            text = text[: site.end(1)] + more + text[site.start(2) :]
        elif kind == 8:  # another name
            text = text[: site.start(1)] + rng.choice(NAMES) + text[site.end(1) :]
        elif kind == 9:  # one less
            text = text[: site.start()] + text[site.end() + (text[site.end()] == ",") :]
        else:
            text = text[: site.start()] + rng.choice(NUMBERS) + text[site.end() :]
    return text
