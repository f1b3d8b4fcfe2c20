// Kernels of AMD's GPUs as LLVM IR, translated for the simulated GPU and executed there.
// SPDX-License-Identifier: MIT
#include "compiler/target/sim/EmitPtx.h"
#include "test/unit/runtime/SimKernel.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include <bit>
#include <numeric>

using namespace nereid;

namespace {
/// AMD's data layout.
constexpr const char *kHead = R"(
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"
@nereid_shared = external addrspace(3) global [0 x i8], align 16
)";

llvm::Expected<std::string> translate(const std::string &ir, const std::string &arch) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(kHead + ir, problem, context);
  if (!module) {
    ADD_FAILURE() << problem.getLineNo() << ": " << problem.getMessage().str();
    return llvm::createStringError("no module");
  }
  const size_t count = module->getInstructionCount();
  auto text = sim::emitPtx(*module, *artifact::findAmdArch(arch));
  EXPECT_EQ(module->getTargetTriple().str(), "amdgcn-amd-amdhsa"); // the caller's module stays as it is
  EXPECT_EQ(module->getInstructionCount(), count);
  return text;
}

void expectRun(const std::string &ir, const SimArguments &arguments, sim::Dim grid, sim::Dim block,
               uint32_t sharedBytes = 0, const std::string &arch = "gfx942") {
  auto text = translate(ir, arch);
  ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
  auto counters = runSim(*text, arguments, grid, block, 0, 0, sharedBytes);
  ASSERT_TRUE(counters) << counters.error().text << "\n" << *text;
}

std::string errorOf(const std::string &ir, const std::string &arch = "gfx942") {
  auto text = translate(ir, arch);
  EXPECT_FALSE(bool(text)) << *text;
  return text ? "" : llvm::toString(text.takeError());
}

const std::string kIds = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
)";
} // namespace

TEST(EmitSimPtx, vectorAdd) {
  const std::string ir = kIds + R"(
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
define amdgpu_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %out, i32 %n) #0 {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %implicit = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %groups = load i32, ptr addrspace(4) %implicit
  %last = sub i32 %groups, 1
  %reversed = sub i32 %last, %group
  %base = mul i32 %reversed, 128
  %at = add i32 %base, %thread
  %inside = icmp slt i32 %at, %n
  br i1 %inside, label %do, label %end
do:
  %px = getelementptr float, ptr addrspace(1) %x, i32 %at
  %py = getelementptr float, ptr addrspace(1) %y, i32 %at
  %po = getelementptr float, ptr addrspace(1) %out, i32 %at
  %a = load float, ptr addrspace(1) %px
  %b = load float, ptr addrspace(1) %py
  %sum = fadd float %a, %b
  store float %sum, ptr addrspace(1) %po
  br label %end
end:
  ret void
}
attributes #0 = { "target-cpu"="gfx942" "amdgpu-flat-work-group-size"="128,128" "uniform-work-group-size"="true" }
)";
  std::vector<float> x(300), y(300), out(301, -1);
  std::iota(x.begin(), x.end(), 0.5f), std::iota(y.begin(), y.end(), 100.0f);
  expectRun(ir, SimArguments().add(x.data()).add(y.data()).add(out.data()).add(int32_t{300}), {.x = 3}, {.x = 128});
  for (unsigned index = 0; index < 300; ++index)
    EXPECT_EQ(out[index], x[index] + y[index]);
  EXPECT_EQ(out[300], -1);
}

/// A sum of 64 lanes: four steps by DPP within rows, two by ds_bpermute.
TEST(EmitSimPtx, waveReduction) {
  std::string ir = kIds + R"(
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
define amdgpu_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %out) {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %low = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %lane = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %low)
  %px = getelementptr i32, ptr addrspace(1) %x, i32 %thread
  %v0 = load i32, ptr addrspace(1) %px
)";
  const char *controls[] = {"177", "78", "321", "320"}; // quad_perm:[1,0,3,2], [2,3,0,1], row_half_mirror, row_mirror
  for (int step = 0; step < 4; ++step) {
    const std::string from = "%v" + std::to_string(step), to = "%v" + std::to_string(step + 1),
                      other = "%d" + std::to_string(step);
    ir += "  " + other + " = call i32 @llvm.amdgcn.update.dpp.i32(i32 " + from + ", i32 " + from + ", i32 " +
          controls[step] + ", i32 15, i32 15, i1 true)\n  " + to + " = add i32 " + from + ", " + other + "\n";
  }
  ir += R"(
  %a16 = xor i32 %lane, 16
  %b16 = shl i32 %a16, 2
  %o16 = call i32 @llvm.amdgcn.ds.bpermute(i32 %b16, i32 %v4)
  %v5 = add i32 %v4, %o16
  %a32 = xor i32 %lane, 32
  %b32 = shl i32 %a32, 2
  %o32 = call i32 @llvm.amdgcn.ds.bpermute(i32 %b32, i32 %v5)
  %v6 = add i32 %v5, %o32
  %sum = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %v6)
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %thread
  store i32 %sum, ptr addrspace(1) %po
  ret void
})";
  std::vector<uint32_t> x(128), out(128);
  uint64_t state = 1;
  for (uint32_t &value : x)
    value = uint32_t((state = state * 6364136223846793005 + 1) >> 40);
  expectRun(ir, SimArguments().add(x.data()).add(out.data()), {}, {.x = 128});
  for (unsigned wave = 0; wave < 2; ++wave) {
    const uint32_t sum = std::accumulate(x.begin() + wave * 64, x.begin() + (wave + 1) * 64, 0u);
    for (unsigned lane = 0; lane < 64; ++lane)
      EXPECT_EQ(out[wave * 64 + lane], sum);
  }
}

/// A tile of M x M results; `operands` and `sums` are elements of a lane. Element (i, k) of an operand is loaded by
/// lane i + M * (k / operands).
static std::string tileProduct(const std::string &intrinsic, unsigned rows, unsigned operands, unsigned sums) {
  const std::string m = std::to_string(rows), n = std::to_string(operands),
                    depth = std::to_string(64 / rows * operands);
  std::string ir = kIds + "declare <" + std::to_string(sums) + " x float> @llvm.amdgcn." + intrinsic + "(<" + n +
                   " x half>, <" + n + " x half>, <" + std::to_string(sums) + " x float>, i32, i32, i32)\n" + R"(
define amdgpu_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %out) {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %major = urem i32 %lane, )" +
                   m + "\n  %group = udiv i32 %lane, " + m + "\n  %row = mul i32 %major, " + depth +
                   "\n  %k = mul i32 %group, " + n + R"(
  %at = add i32 %row, %k
  %px = getelementptr half, ptr addrspace(1) %x, i32 %at
  %py = getelementptr half, ptr addrspace(1) %y, i32 %at
)";
  const std::string vector = "<" + n + " x half>", result = "<" + std::to_string(sums) + " x float>";
  ir += "  %a = load " + vector + ", ptr addrspace(1) %px\n  %b = load " + vector +
        ", ptr addrspace(1) %py\n  %d = call " + result + " @llvm.amdgcn." + intrinsic + "(" + vector + " %a, " +
        vector + " %b, " + result + " zeroinitializer, i32 0, i32 0, i32 0)\n  %o = getelementptr " + result +
        ", ptr addrspace(1) %out, i32 %lane\n  store " + result + " %d, ptr addrspace(1) %o\n  ret void\n}\n";
  return ir;
}

/// The right matrix is given by columns.
static void expectTile(const std::string &intrinsic, unsigned rows, unsigned operands, unsigned sums) {
  const unsigned depth = 64 / rows * operands;
  std::vector<_Float16> x(rows * depth), y(rows * depth);
  std::vector<float> out(64 * sums);
  for (unsigned index = 0; index < rows * depth; ++index)
    x[index] = _Float16(int(index * 7 % 23) - 11), y[index] = _Float16(int(index * 5 % 19) - 9);
  expectRun(tileProduct(intrinsic, rows, operands, sums), SimArguments().add(x.data()).add(y.data()).add(out.data()),
            {}, {.x = 64});
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < rows; ++column) {
      float expected = 0;
      for (unsigned k = 0; k < depth; ++k)
        expected += float(x[row * depth + k]) * float(y[column * depth + k]);
      const unsigned lane = rows == 32 ? column + 32 * (row / 4 % 2) : column + 16 * (row / 4);
      const unsigned index = rows == 32 ? row % 4 + 4 * (row / 8) : row % 4;
      EXPECT_EQ(out[lane * sums + index], expected) << intrinsic << " " << row << ", " << column;
    }
}

TEST(EmitSimPtx, mfmaTiles) {
  expectTile("mfma.f32.32x32x8f16", 32, 4, 16);
  expectTile("mfma.f32.16x16x16f16", 16, 4, 4);
}

TEST(EmitSimPtx, wmmaTile) {
  const std::string ir = kIds + R"(
declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16(<16 x half>, <16 x half>, <8 x float>)
define amdgpu_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %out) {
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %row = and i32 %lane, 15
  %px = getelementptr <16 x half>, ptr addrspace(1) %x, i32 %row
  %py = getelementptr <16 x half>, ptr addrspace(1) %y, i32 %row
  %a = load <16 x half>, ptr addrspace(1) %px
  %b = load <16 x half>, ptr addrspace(1) %py
  %d = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16(<16 x half> %a, <16 x half> %b, <8 x float> splat (float 1.0))
  %o = getelementptr <8 x float>, ptr addrspace(1) %out, i32 %lane
  store <8 x float> %d, ptr addrspace(1) %o
  ret void
})";
  std::vector<_Float16> x(256), y(256);
  std::vector<float> out(256);
  for (unsigned index = 0; index < 256; ++index)
    x[index] = _Float16(int(index % 13) - 6), y[index] = _Float16(int(index % 11) - 5);
  expectRun(ir, SimArguments().add(x.data()).add(y.data()).add(out.data()), {}, {.x = 32}, 0, "gfx1100");
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 16; ++column) {
      float expected = 1;
      for (unsigned k = 0; k < 16; ++k)
        expected += float(x[row * 16 + k]) * float(y[column * 16 + k]);
      EXPECT_EQ(out[(column + 16 * (row % 2)) * 8 + row / 2], expected);
    }
}

/// Offsets beyond the buffer read zero and write nothing.
TEST(EmitSimPtx, bufferAccesses) {
  const std::string ir = kIds + R"(
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare <2 x half> @llvm.amdgcn.raw.ptr.buffer.load.v2f16(ptr addrspace(8), i32, i32, i32)
declare void @llvm.amdgcn.raw.ptr.buffer.store.v2f16(<2 x half>, ptr addrspace(8), i32, i32, i32)
define amdgpu_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %out, i64 %bytes) {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %from = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %x, i16 0, i64 %bytes, i32 159744)
  %to = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %out, i16 0, i64 240, i32 159744)
  %offset = shl i32 %thread, 2
  %odd = trunc i32 %thread to i1
  %masked = select i1 %odd, i32 -2147483648, i32 %offset
  %value = call <2 x half> @llvm.amdgcn.raw.ptr.buffer.load.v2f16(ptr addrspace(8) %from, i32 %masked, i32 0, i32 0)
  call void @llvm.amdgcn.raw.ptr.buffer.store.v2f16(<2 x half> %value, ptr addrspace(8) %to, i32 %offset, i32 0, i32 0)
  ret void
})";
  std::vector<uint32_t> x(64), out(64, 99);
  std::iota(x.begin(), x.end(), 1);
  expectRun(ir, SimArguments().add(x.data()).add(out.data()).add(uint64_t{100}), {}, {.x = 64});
  for (unsigned index = 0; index < 64; ++index)
    EXPECT_EQ(out[index], index >= 60 ? 99 : index % 2 || index >= 25 ? 0 : index + 1) << index;
}

/// Waves exchange numbers through shared memory.
TEST(EmitSimPtx, sharedExchange) {
  const std::string ir = kIds + R"(
declare void @llvm.amdgcn.s.barrier()
define amdgpu_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %out) {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %px = getelementptr i32, ptr addrspace(1) %x, i32 %thread
  %value = load i32, ptr addrspace(1) %px
  %own = getelementptr i32, ptr addrspace(3) @nereid_shared, i32 %thread
  store i32 %value, ptr addrspace(3) %own
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %other = sub i32 255, %thread
  %from = getelementptr i32, ptr addrspace(3) @nereid_shared, i32 %other
  %got = load i32, ptr addrspace(3) %from
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %thread
  store i32 %got, ptr addrspace(1) %po
  ret void
})";
  std::vector<uint32_t> x(256), out(256);
  std::iota(x.begin(), x.end(), 1000);
  expectRun(ir, SimArguments().add(x.data()).add(out.data()), {}, {.x = 256}, 1024);
  for (unsigned index = 0; index < 256; ++index)
    EXPECT_EQ(out[index], x[255 - index]);
}

TEST(EmitSimPtx, atomicsConstantsAndVariables) {
  const std::string ir = kIds + R"(
@table = private unnamed_addr addrspace(4) constant [4 x i32] [i32 3, i32 5, i32 7, i32 11]
define amdgpu_kernel void @kernel(ptr addrspace(1) %sum, ptr addrspace(1) %out) {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %index = and i32 %thread, 3
  %entry = getelementptr i32, ptr addrspace(4) @table, i32 %index
  %value = load i32, ptr addrspace(4) %entry
  %scratch = alloca [4 x i32], addrspace(5)
  %place = getelementptr i32, ptr addrspace(5) %scratch, i32 %index
  store i32 %value, ptr addrspace(5) %place
  %back = load i32, ptr addrspace(5) %place
  %old = atomicrmw add ptr addrspace(1) %sum, i32 %back syncscope("agent") acq_rel
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %thread
  store i32 %back, ptr addrspace(1) %po
  ret void
})";
  uint32_t sum = 1;
  std::vector<uint32_t> out(64);
  expectRun(ir, SimArguments().add(&sum).add(out.data()), {}, {.x = 64});
  EXPECT_EQ(sum, 1u + 16 * 26);
  EXPECT_EQ(out[2], 7u);
}

TEST(EmitSimPtx, output) {
  const std::string ir = kIds + R"(
@format = private unnamed_addr addrspace(4) constant [10 x i8] c"%d of %f\0A\00"
declare i32 @printf(ptr addrspace(4), ...)
declare void @llvm.trap()
define amdgpu_kernel void @kernel() {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %first = icmp eq i32 %thread, 1
  br i1 %first, label %print, label %end
print:
  %n = call i32 (ptr addrspace(4), ...) @printf(ptr addrspace(4) @format, i32 %thread, double 2.5)
  br label %end
end:
  ret void
})";
  testing::internal::CaptureStdout();
  expectRun(ir, SimArguments(), {}, {.x = 64});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "1 of 2.500000\n");
}

/// A call that prints a failure becomes an error at the launch.
TEST(EmitSimPtx, failure) {
  const std::string ir = R"(
@format = private unnamed_addr addrspace(4) constant [4 x i8] c"no\0A\00"
declare i32 @printf(ptr addrspace(4), ...)
declare void @llvm.trap()
define amdgpu_kernel void @kernel() {
  %n = call i32 (ptr addrspace(4), ...) @printf(ptr addrspace(4) @format), !nereid.failure !0
  call void @llvm.trap()
  ret void
}
!0 = !{!"x is too large", !"kernel.py", !"14", !"kernel"})";
  auto text = translate(ir, "gfx942");
  ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
  auto counters = runSim(*text, SimArguments(), {}, {.x = 64});
  ASSERT_FALSE(counters);
  EXPECT_EQ(counters.error().code, "sim-assert");
  EXPECT_NE(counters.error().text.find("x is too large"), std::string::npos) << counters.error().text;
}

//--- what is not possible --------------------------------------------------------------------

TEST(EmitSimPtx, unknownIntrinsic) {
  const std::string text = errorOf(R"(
declare i32 @llvm.amdgcn.s.getreg(i32 immarg)
define amdgpu_kernel void @kernel(ptr addrspace(1) %out) {
  %a = call i32 @llvm.amdgcn.s.getreg(i32 6)
  store i32 %a, ptr addrspace(1) %out
  ret void
})");
  EXPECT_EQ(text,
            "the simulated GPU does not know the intrinsic `llvm.amdgcn.s.getreg`, which the kernel `kernel` has");
}

TEST(EmitSimPtx, assemblyOfTheGpu) {
  const std::string text = errorOf(R"(
define amdgpu_kernel void @kernel(ptr addrspace(1) %out) {
  %a = call i32 asm "v_mov_b32 $0, 1", "=v"()
  store i32 %a, ptr addrspace(1) %out
  ret void
})");
  EXPECT_NE(text.find("the assembly `v_mov_b32 $0, 1`"), std::string::npos) << text;
}

/// A wave of the block waits at a barrier that the other has left out.
TEST(EmitSimPtx, deadlockedWave) {
  auto text = translate(kIds + R"(
declare void @llvm.amdgcn.s.barrier()
define amdgpu_kernel void @kernel(ptr addrspace(1) %flag) {
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %first = icmp ult i32 %thread, 64
  br i1 %first, label %wait, label %spin
wait:
  call void @llvm.amdgcn.s.barrier()
  store i32 1, ptr addrspace(1) %flag
  ret void
spin:
  %seen = load atomic volatile i32, ptr addrspace(1) %flag syncscope("agent") monotonic, align 4
  %isSet = icmp eq i32 %seen, 1
  br i1 %isSet, label %end, label %spin
end:
  ret void
})",
                        "gfx942");
  ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
  uint32_t flag = 0;
  auto counters = runSim(*text, SimArguments().add(&flag), {}, {.x = 128}, 0, /*maxInstructions=*/100000);
  ASSERT_FALSE(counters);
  EXPECT_EQ(counters.error().code, "sim-limit");
  EXPECT_NE(counters.error().text.find("amd.s_barrier"), std::string::npos) << counters.error().text;
}
