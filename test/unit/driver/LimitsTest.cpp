// Tests that a limit of a target, or of a pass, on a user's IR is an error with a code and a position of its own.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"
#include "gtest/gtest.h"

using namespace nereid;

namespace {
struct Limit {
  const char *name;
  const char *target;
  const char *code;
  const char *text; ///< TTIR; TTGIR where it begins with an attribute
  support::Options options = {};
};

/// Compiles; returns the messages.
std::string compile(const Limit &limit, support::DiagnosticEngine &diagnostics) {
  auto context = driver::createContext();
  auto [backend, arch] = llvm::StringRef(limit.target).split(':');
  std::string reason;
  const auto target = driver::resolveTarget(backend.str(), arch.str(), reason);
  if (!target)
    return reason;
  driver::Request request;
  request.keep = {backend == "cpu" ? "asm" : backend == "hip" ? "amdgcn" : "ptx"};
  request.keepsBinary = false;
  request.sources = {std::make_shared<support::SourceFile>("test", limit.text)};
  auto module = driver::parse(*context, limit.text, "test", diagnostics);
  if (module && limit.text[0] == '#') {
    request.replacement = driver::Request::Replacement{"ttgir", limit.text, "test"};
    module = driver::declarationOf(*module, diagnostics);
  }
  if (module && driver::back(*module, limit.options, *target, request, diagnostics))
    return "compiled";
  return diagnostics.render();
}

void PrintTo(const Limit &limit, std::ostream *os) { *os << limit.name; }
} // namespace

#define TTGIR_MODULE                                                                                                   \
  "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:80\", "             \
  "\"ttg.threads-per-warp\" = 32 : i32} {\n"

static const Limit limits[] = {
    {"different_constants", "cuda:90", "tile-constants",
     "tt.func public @k(%x: !tt.ptr<i32>) {\n"
     "  %v = arith.constant dense<[1, 2, 3, 5]> : tensor<4xi32>\n"
     "  %p = tt.splat %x : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>\n"
     "  tt.store %p, %v : tensor<4x!tt.ptr<i32>>\n"
     "  tt.return }"},
    {"different_constants_of_odd_extents", "cuda:90", "tile-constants",
     "tt.func public @k(%x: !tt.ptr<i32>) {\n"
     "  %v = arith.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
     "  %p = tt.splat %x : !tt.ptr<i32> -> tensor<3x!tt.ptr<i32>>\n"
     "  tt.store %p, %v : tensor<3x!tt.ptr<i32>>\n"
     "  tt.return }"},
    {"a_loop_without_an_end_in_a_region", "cpu:x86-64-v3", "unstructured-control-flow",
     "tt.func public @k(%x: !tt.ptr<i32>, %n: i32) {\n"
     "  scf.execute_region {\n"
     "    cf.br ^bb1\n"
     "  ^bb1:\n"
     "    tt.store %x, %n : !tt.ptr<i32>\n"
     "    cf.br ^bb1\n"
     "  }\n"
     "  tt.return }"},
    {"effects_for_odd_extents", "cuda:90", "padded-effects",
     "tt.func public @k(%p: !tt.ptr<i32>) {\n"
     "  %x = tt.make_range {end = 5 : i32, start = 0 : i32} : tensor<5xi32>\n"
     "  %r = \"tt.reduce\"(%x) <{axis = 0 : i32}> ({\n"
     "  ^bb0(%a: i32, %b: i32):\n"
     "    tt.print \" a: \" {hex = false, isSigned = array<i32: 1>} : %a : i32\n"
     "    %c = arith.addi %a, %b : i32\n"
     "    tt.reduce.return %c : i32\n"
     "  }) : (tensor<5xi32>) -> i32\n"
     "  tt.store %p, %r : !tt.ptr<i32>\n"
     "  tt.return }"},
    {"a_boundary_check_of_a_missing_dimension", "cpu:x86-64-v3", "boundary-check-dim",
     "tt.func public @k(%p: !tt.ptr<f32>, %n: i64, %i: i32) {\n"
     "  %one = arith.constant 1 : i64\n"
     "  %b = tt.make_tensor_ptr %p, [%n], [%one], [%i] {order = array<i32: 0>} : <tensor<8xf32>>\n"
     "  %x = tt.load %b {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<8xf32>>\n"
     "  tt.store %b, %x : !tt.ptr<tensor<8xf32>>\n"
     "  tt.return }"},
    {"an_atomic_access_that_only_descriptors_have", "cpu:x86-64-v3", "descriptor-atomic",
     "tt.func public @k(%d: !tt.tensordesc<8xi32>, %i: i32) {\n"
     "  %v = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n"
     "  tt.descriptor_reduce inc, %d[%i], %v : !tt.tensordesc<8xi32>, tensor<8xi32>\n"
     "  tt.return }"},
    {"an_operation_that_gpus_lack", "cuda:90", "operation-unsupported",
     "tt.func public @k(%x: !tt.ptr<f32>) {\n"
     "  %v = tt.load %x : !tt.ptr<f32>\n"
     "  %r = math.cbrt %v : f32\n"
     "  tt.store %x, %r : !tt.ptr<f32>\n"
     "  tt.return }"},
    {"constraints_that_do_not_fit", "cuda:90", "asm-operands",
     "tt.func public @k(%x: !tt.ptr<i32>) {\n"
     "  %v = tt.load %x : !tt.ptr<i32>\n"
     "  %r = tt.elementwise_inline_asm \"nop\" {constraints = \"=r\", packed_element = 1 : i32, pure = true} %v : i32 "
     "-> "
     "i32\n"
     "  tt.store %x, %r : !tt.ptr<i32>\n"
     "  tt.return }"},
    {"assembly_without_a_result", "cuda:90", "asm-without-result",
     "tt.func public @k(%x: !tt.ptr<i32>) {\n"
     "  %v = tt.load %x : !tt.ptr<i32>\n"
     "  \"tt.elementwise_inline_asm\"(%v) <{asm_string = \"nop\", constraints = \"r\", packed_element = 1 : i32, "
     "pure = false}> : (i32) -> ()\n"
     "  tt.return }"},
    {"a_function_that_the_cpu_lacks", "cpu:x86-64-v3", "cpu-extern",
     "tt.func public @k(%x: !tt.ptr<f32>) {\n"
     "  %v = tt.load %x : !tt.ptr<f32>\n"
     "  %r = tt.extern_elementwise %v {libname = \"\", libpath = \"\", pure = true, symbol = \"nothing\"} : (f32) -> "
     "f32\n"
     "  tt.store %x, %r : !tt.ptr<f32>\n"
     "  tt.return }"},
    {"assembly_that_the_cpu_lacks", "cpu:x86-64-v3", "cpu-assembly",
     "tt.func public @k(%x: !tt.ptr<i32>) {\n"
     "  %v = tt.load %x : !tt.ptr<i32>\n"
     "  %r = tt.elementwise_inline_asm \"frobnicate $0\" {constraints = \"=r,0\", packed_element = 1 : i32, pure = "
     "true} "
     "%v : i32 -> i32\n"
     "  tt.store %x, %r : !tt.ptr<i32>\n"
     "  tt.return }"},
    {"assembly_that_gpus_lack", "cuda:90", "cuda-assembly",
     "tt.func public @k(%x: !tt.ptr<i32>) {\n"
     "  %v = tt.load %x : !tt.ptr<i32>\n"
     "  %r = tt.elementwise_inline_asm \"mov.b32 $0, $1;\" {constraints = \"={nothing},r\", packed_element = 1 : i32, "
     "pure = true} %v : i32 -> i32\n"
     "  tt.store %x, %r : !tt.ptr<i32>\n"
     "  tt.return }"},
    {"a_tensor_map_that_cannot_serve_a_descriptor", "cuda:90+maps", "host-tensor-map",
     "tt.func public @k(%d: !tt.tensordesc<16x4xf16>, %n: i32 {tt.divisibility = 16 : i32}) {\n"
     "  %x = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<16x4xf16> -> tensor<16x4xf16>\n"
     "  tt.descriptor_store %d[%n, %n], %x : !tt.tensordesc<16x4xf16>, tensor<16x4xf16>\n"
     "  tt.return }"},
    {"ttir_with_layouts", "cuda:90", "tile-has-layout",
     "tt.func public @k(%x: !tt.ptr<i32>) {\n"
     "  %v = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.blocked<{sizePerThread = [1], "
     "threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>\n"
     "  %r = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({\n"
     "  ^bb0(%a: i32, %b: i32):\n"
     "    %c = arith.addi %a, %b : i32\n"
     "    tt.reduce.return %c : i32\n"
     "  }) : (tensor<128xi32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = "
     "[0]}>>) -> i32\n"
     "  tt.store %x, %r : !tt.ptr<i32>\n"
     "  tt.return }"},
    {"tma_on_a_gpu_without_it", "cuda:80", "needs-tma",
     "#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
     "#smem = #ttg.shared_memory\n" TTGIR_MODULE "tt.func public @k(%x: !tt.ptr<i32>) {\n"
     "  %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #flat, #smem, mutable>\n"
     "  %yes = arith.constant true\n"
     "  ttng.barrier_expect %b, 16, %yes : !ttg.memdesc<1xi64, #flat, #smem, mutable>\n"
     "  tt.return } }"},
    {"a_dot_in_a_layout_of_warp_groups", "cuda:90a", "warp-group-operands",
     "#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, "
     "16]}>\n" TTGIR_MODULE "tt.func public @k(%x: !tt.ptr<f32>) {\n"
     "  %a = arith.constant dense<1.0> : tensor<64x16xf16, #mma>\n"
     "  %b = arith.constant dense<1.0> : tensor<16x64xf16, #mma>\n"
     "  %c = arith.constant dense<1.0> : tensor<64x64xf32, #mma>\n"
     "  %d = tt.dot %a, %b, %c : tensor<64x16xf16, #mma> * tensor<16x64xf16, #mma> -> tensor<64x64xf32, #mma>\n"
     "  tt.return } }"},
    {"a_tensor_map_parameter_of_a_function", "cuda:90", "parameter-by-value",
     "#smem = #ttg.shared_memory\n" TTGIR_MODULE "tt.func private @f(%m: !tt.ptr<i8> {ttng.tensor_map = 1 : i32}) {\n"
     "  tt.return }\n"
     "tt.func public @k(%x: !tt.ptr<i8>) {\n"
     "  tt.call @f(%x) : (!tt.ptr<i8>) -> ()\n"
     "  tt.return } }"},
    {"a_scan_in_a_layout_of_mixed_bits", "cuda:80", "scan-layout",
     "#mixed = #ttg.linear<{register = [], lane = [[3], [2], [4], [8], [16]], warp = [[32], [64]], block = "
     "[]}>\n" TTGIR_MODULE "tt.func public @k(%x: !tt.ptr<i32>) {\n"
     "  %v = arith.constant dense<1> : tensor<128xi32, #mixed>\n"
     "  %r = \"tt.scan\"(%v) <{axis = 0 : i32, reverse = false}> ({\n"
     "  ^bb0(%a: i32, %b: i32):\n"
     "    %c = arith.addi %a, %b : i32\n"
     "    tt.scan.return %c : i32\n"
     "  }) : (tensor<128xi32, #mixed>) -> tensor<128xi32, #mixed>\n"
     "  %p = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #mixed>\n"
     "  tt.store %p, %r : tensor<128x!tt.ptr<i32>, #mixed>\n"
     "  tt.return } }"},
    {"three_warps", "cuda:90", "num-warps", "tt.func public @k() { tt.return }", {.numWarps = 3}},
    {"three_ctas", "cuda:90", "num-ctas", "tt.func public @k() { tt.return }", {.numCtas = 3}},
    {"clusters_on_a_gpu_without_them",
     "cuda:80",
     "num-ctas-unsupported",
     "tt.func public @k() { tt.return }",
     {.numCtas = 2}},
    {"a_matrix_instruction_of_another_size",
     "hip:gfx942",
     "amd-matrix-instr-nonkdim",
     "tt.func public @k() { tt.return }",
     {.matrixInstrNonKDim = 8}},
    {"a_kpack_of_three", "hip:gfx942", "amd-kpack", "tt.func public @k() { tt.return }", {.kpack = 3}},
    {"a_ptx_version_too_low", "cuda:90", "ptx-version", "tt.func public @k() { tt.return }", {.ptxVersion = 70}},
    {"a_ptx_version_that_is_not_written",
     "cuda:90",
     "ptx-version-unknown",
     "tt.func public @k() { tt.return }",
     {.ptxVersion = 999}},
};

class Limits : public testing::TestWithParam<Limit> {};

TEST_P(Limits, have_a_code_and_a_position) {
  support::DiagnosticEngine diagnostics;
  const std::string text = compile(GetParam(), diagnostics);
  ASSERT_EQ(diagnostics.errorCount(), 1u) << text;
  for (const support::Diagnostic &diagnostic : diagnostics.all())
    if (diagnostic.isError()) {
      EXPECT_EQ(diagnostic.code().str(), GetParam().code) << text;
      EXPECT_TRUE(diagnostic.where) << text;
    }
}

INSTANTIATE_TEST_SUITE_P(Driver, Limits, testing::ValuesIn(limits),
                         [](const auto &info) { return std::string(info.param.name); });
