// Counters of the simulated GPU: exact figures of small PTX.
// SPDX-License-Identifier: MIT
#include "runtime/sim/counters/Banks.h"
#include "test/unit/runtime/SimKernel.h"

#include <map>

using namespace nereid;

using Figures = std::map<std::string, double>;

static Figures countersOf(const std::string &ptx, const SimArguments &arguments, sim::Dim grid, sim::Dim block) {
  auto module = sim::parse(ptx);
  EXPECT_TRUE(module) << module.error().text;
  sim::Launch launch;
  launch.entry = "kernel";
  launch.grid = grid;
  launch.block = block;
  launch.params = arguments.bytes;
  launch.wantsCounters = true;
  auto counters = sim::run(**module, launch);
  EXPECT_TRUE(counters) << counters.error().text;
  Figures figures;
  if (counters)
    for (const sim::Figure &figure : figuresOf(*counters))
      figures[figure.name] = figure.value;
  return figures;
}

/// `bytes` per thread are loaded, at a distance of `stride`, and the first word is stored to the second array.
static std::string copyKernel(unsigned stride, const std::string &load) {
  return simKernel(".param .u64 from, .param .u64 to",
                   ".reg .b64 %rd<8>; .reg .b32 %r<12>;\n"
                   "ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to];\n"
                   "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
                   "mad.lo.s32 %r1, %r2, %r3, %r1;\n"
                   "mad.wide.u32 %rd3, %r1, " +
                       std::to_string(stride) + ", %rd1;\nmad.wide.u32 %rd4, %r1, 4, %rd2;\n" + load +
                       "\nst.global.b32 [%rd4], %r4;\nret;\n");
}

TEST(SimCounters, coalescedLoadTouchesEachSectorOnce) {
  std::vector<uint32_t> from(128 + 8), to(128 + 8);
  const auto at = [](std::vector<uint32_t> &array) {
    return (reinterpret_cast<uint64_t>(array.data()) + 31) / 32 * 32;
  };
  Figures figures = countersOf(copyKernel(4, "ld.global.b32 %r4, [%rd3];"), SimArguments().add(at(from)).add(at(to)),
                               {2, 1, 1}, {64, 1, 1});
  EXPECT_EQ(figures["global_load_requests"], 4);
  EXPECT_EQ(figures["global_load_bytes"], 512);
  EXPECT_EQ(figures["global_load_sectors"], 16);
  EXPECT_EQ(figures["global_load_requests_of_4_bytes"], 4);
  EXPECT_EQ(figures["global_store_sectors"], 16);
  EXPECT_EQ(figures["dram_read_bytes"], 512);
  EXPECT_EQ(figures["dram_write_bytes"], 512);
  EXPECT_EQ(figures["param_load_instructions"], 2 * 4);
  EXPECT_EQ(figures["integer_instructions"], 3 * 4);
  EXPECT_EQ(figures["move_instructions"], 3 * 4);
  EXPECT_EQ(figures["mean_active_lanes"], 32);
  EXPECT_EQ(figures["warp_instructions"] * 32, figures["thread_instructions"]);
}

TEST(SimCounters, stridedLoadTouchesMoreSectors) {
  std::vector<uint32_t> from(32 * 16 + 8), to(32);
  const uint64_t begin = (reinterpret_cast<uint64_t>(from.data()) + 31) / 32 * 32;
  const SimArguments arguments = SimArguments().add(begin).add(to.data());
  Figures figures = countersOf(copyKernel(64, "ld.global.b32 %r4, [%rd3];"), arguments, {}, {32, 1, 1});
  EXPECT_EQ(figures["global_load_sectors"], 32);
  EXPECT_EQ(figures["global_load_bytes"], 128);
  EXPECT_EQ(figures["dram_read_bytes"], 32 * 32);
}

TEST(SimCounters, vectorLoadIsOneRequest) {
  std::vector<uint32_t> from(32 * 4 + 8), to(32);
  const uint64_t begin = (reinterpret_cast<uint64_t>(from.data()) + 31) / 32 * 32;
  Figures figures = countersOf(copyKernel(16, "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd3];"),
                               SimArguments().add(begin).add(to.data()), {}, {32, 1, 1});
  EXPECT_EQ(figures["global_load_requests_of_16_bytes"], 1);
  EXPECT_EQ(figures["global_load_sectors"], 16);
}

TEST(SimCounters, onlyActiveLanesCount) {
  std::vector<uint32_t> from(64), to(32);
  const std::string guarded = ".reg .pred %p; setp.lt.u32 %p, %r1, 3; @%p ld.global.b32 %r4, [%rd3];";
  Figures figures = countersOf(copyKernel(4, guarded), SimArguments().add(from.data()).add(to.data()), {}, {32, 1, 1});
  EXPECT_EQ(figures["global_load_bytes"], 12);
  EXPECT_LT(figures["mean_active_lanes"], 32);
}

/// Each thread stores `bytes` to shared memory at a distance of `stride`.
static Figures storesToShared(unsigned stride, const std::string &store) {
  return countersOf(simKernel("", ".reg .b64 %rd<4>; .reg .b32 %r<8>; .shared .align 16 .b8 data[8192];\n"
                                  "mov.u32 %r1, %tid.x; mul.lo.s32 %r2, %r1, " +
                                      std::to_string(stride) + "; mov.u32 %r3, data; add.s32 %r2, %r2, %r3;\n" + store +
                                      "\nret;\n"),
                    {}, {}, {32, 1, 1});
}

TEST(SimCounters, columnOfAMatrixHasBankConflicts) {
  Figures plain = storesToShared(128, "st.shared.b32 [%r2], %r1;");
  EXPECT_EQ(plain["shared_store_wavefronts"], 32);
  EXPECT_EQ(plain["shared_store_bank_conflicts"], 31);
  EXPECT_EQ(plain["bank_conflicts"], 31);
  Figures padded = storesToShared(132, "st.shared.b32 [%r2], %r1;");
  EXPECT_EQ(padded["shared_store_wavefronts"], 1);
  EXPECT_EQ(padded["bank_conflicts"], 0);
}

TEST(SimCounters, wideAccessesAreDoneInParts) {
  Figures halves = storesToShared(8, "st.shared.v2.b32 [%r2], {%r1, %r1};");
  EXPECT_EQ(halves["shared_store_wavefronts"], 2);
  EXPECT_EQ(halves["bank_conflicts"], 0);
  Figures quarters = storesToShared(16, "st.shared.v4.b32 [%r2], {%r1, %r1, %r1, %r1};");
  EXPECT_EQ(quarters["shared_store_wavefronts"], 4);
  EXPECT_EQ(quarters["bank_conflicts"], 0);
  Figures spread = storesToShared(32, "st.shared.v4.b32 [%r2], {%r1, %r1, %r1, %r1};");
  EXPECT_EQ(spread["shared_store_wavefronts"], 8);
  EXPECT_EQ(spread["bank_conflicts"], 4);
}

TEST(SimCounters, lanesOfOneWordShareIt) {
  EXPECT_EQ(storesToShared(0, "ld.shared.b32 %r4, [%r2];")["bank_conflicts"], 0);
  Figures bytes = storesToShared(1, "ld.shared.u8 %r4, [%r2];");
  EXPECT_EQ(bytes["shared_load_wavefronts"], 1);
}

TEST(SimCounters, matricesAreReadRowByRow) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r2];";
  Figures close = storesToShared(16, load);
  EXPECT_EQ(close["shared_load_wavefronts"], 4);
  EXPECT_EQ(close["bank_conflicts"], 0);
  Figures apart = storesToShared(128, load);
  EXPECT_EQ(apart["shared_load_wavefronts"], 32);
  EXPECT_EQ(apart["bank_conflicts"], 28);
}

TEST(SimCounters, tensorCoreFlopsAreThoseOfTheShape) {
  Figures figures = countersOf(
      simKernel("", ".reg .b32 %r<12>; .reg .f32 %f<5>;\n"
                    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, "
                    "{%r5, %r6}, {%f1, %f2, %f3, %f4};\nret;\n"),
      {}, {3, 1, 1}, {64, 1, 1});
  EXPECT_EQ(figures["tensor_flops_f16"], 2.0 * 16 * 8 * 16 * 6);
  EXPECT_EQ(figures["tensor_core_instructions"], 6);
}

TEST(SimCounters, withoutThemOnlyInstructionsAreCounted) {
  auto counters = runSim(simKernel("", "ret;\n"), {}, {2, 1, 1}, {32, 1, 1});
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->threadInstructions, 64u);
  EXPECT_TRUE(counters->instructions.empty());
}

TEST(SimCounters, partsWithTheSameAddressesAreOne) {
  // All lanes read the same 8 and 16 bytes.
  EXPECT_EQ(storesToShared(0, "ld.shared.v2.b32 {%r4, %r5}, [%r2];")["shared_load_wavefronts"], 1);
  Figures quarters = storesToShared(0, "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r2];");
  EXPECT_EQ(quarters["shared_load_wavefronts"], 2);
  EXPECT_EQ(quarters["bank_conflicts"], 0);
}
