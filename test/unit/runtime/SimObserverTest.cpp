// What an observer of the simulated GPU is told of each kind of access.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimKernel.h"

#include "runtime/sim/machine/Observer.h"

#include <bit>
#include <map>

using namespace nereid;
using sim::Order;
using sim::Proxy;
using sim::Space;
using sim::Stage;

namespace {
struct Seen {
  uint32_t line, lanes, bytes;
  Space space;
  bool reads, writes, isAtomic;
  sim::Scope scope;
  Order order;
  Proxy proxy;
  Stage stage;
  uint64_t operation;
};

struct Recorder : sim::Observer {
  std::vector<Seen> &accesses;
  std::map<uint32_t, uint32_t> &issues;
  Recorder(std::vector<Seen> &accesses, std::map<uint32_t, uint32_t> &issues) : accesses(accesses), issues(issues) {}

  bool onAccess(sim::Warp &warp, const sim::MemoryAccess &access) override {
    if (access.space == Space::Param)
      return true;
    accesses.push_back({access.instruction->line, access.lanes, access.bytes, access.space, access.reads, access.writes,
                        access.isAtomic, access.scope, access.order, access.proxy, access.stage, access.operation});
    const unsigned first = unsigned(std::countr_zero(access.lanes));
    if (access.space == Space::Global)
      EXPECT_EQ(uint64_t(access.host[first]), access.addresses[first]);
    return true;
  }
  void onIssue(sim::Warp &warp, const sim::Instruction &instruction) override {
    issues[instruction.line] += unsigned(std::popcount(warp.mask));
  }
};

struct Recording {
  std::vector<Seen> accesses;
  std::map<uint32_t, uint32_t> issues; ///< lanes by line

  Recording(const std::string &params, const std::string &body, const SimArguments &arguments, uint64_t seed = 0) {
    const auto make = [this](sim::Cluster &) { return std::make_shared<Recorder>(accesses, issues); };
    auto done = runSim(simKernel(params, body), arguments, {}, {.x = 32}, seed, 0, 4096, {}, {make});
    EXPECT_TRUE(done) << done.error().text;
  }
  std::vector<Seen> at(uint32_t line) const {
    std::vector<Seen> result;
    for (const Seen &seen : accesses)
      if (seen.line == line)
        result.push_back(seen);
    return result;
  }
};
} // namespace

TEST(SimObserver, loadsStoresAndAtomics) {
  std::vector<uint32_t> data(128, 1);
  const Recording recording(".param .u64 data", R"(.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16; add.u64 %rd1, %rd1, %rd2;
    setp.lt.u32 %p1, %r1, 4;
    ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1];
    @%p1 st.volatile.u32 [%rd1+4], %r1;
    atom.global.acq_rel.cta.add.u32 %r6, [%rd1], 1;
    red.global.add.u32 [%rd1], 1;
    cvt.u32.u64 %r7, %rd2;
    st.shared.u64 [%r7+8], %rd2;
    ret;)",
                            SimArguments().add(data.data()));
  const std::vector<Seen> load = recording.at(10), store = recording.at(11), atomic = recording.at(12),
                          reduction = recording.at(13), shared = recording.at(15);
  ASSERT_TRUE(load.size() == 1 && store.size() == 1 && atomic.size() == 1 && reduction.size() == 1 &&
              shared.size() == 1);
  EXPECT_TRUE(load[0].reads && !load[0].writes && load[0].bytes == 16 && load[0].lanes == ~0u);
  EXPECT_EQ(load[0].order, Order::Weak);
  EXPECT_TRUE(store[0].writes && store[0].lanes == 15 && store[0].space == Space::Global && store[0].bytes == 4);
  EXPECT_TRUE(store[0].order == Order::Relaxed && store[0].scope == sim::Scope::Sys);
  EXPECT_TRUE(atomic[0].isAtomic && atomic[0].reads && atomic[0].writes && atomic[0].order == Order::AcqRel &&
              atomic[0].scope == sim::Scope::Cta);
  EXPECT_TRUE(reduction[0].isAtomic && reduction[0].order == Order::Relaxed && reduction[0].scope == sim::Scope::Gpu);
  EXPECT_TRUE(shared[0].space == Space::Shared && shared[0].bytes == 8);
  EXPECT_EQ(recording.issues.at(10), 32u);
  EXPECT_EQ(recording.issues.at(11), 4u);
}

/// Asynchronous copies are told when they are issued and when they take effect, early or late.
TEST(SimObserver, asynchronousCopies) {
  alignas(16) static char data[512];
  for (const uint64_t seed : {0, 1}) {
    const Recording recording(".param .u64 data", R"(.reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16; add.u64 %rd1, %rd1, %rd2;
    cvt.u32.u64 %r2, %rd2;
    cp.async.cg.shared.global [%r2], [%rd1], 16;
    cp.async.wait_all;
    ld.shared.u32 %r3, [%r2];
    ret;)",
                              SimArguments().add(&data[0]), seed);
    const std::vector<Seen> copies = recording.at(10);
    ASSERT_EQ(copies.size(), 2u + 64u);
    EXPECT_TRUE(copies[0].stage == Stage::Issue && copies[0].reads && copies[0].lanes == ~0u);
    EXPECT_TRUE(copies[1].stage == Stage::Issue && copies[1].writes && copies[1].space == Space::Shared);
    for (size_t index = 2; index < copies.size(); ++index) {
      EXPECT_TRUE(copies[index].stage == Stage::Effect && copies[index].bytes == 16);
      EXPECT_EQ(copies[index].operation, copies[0].operation);
    }
    EXPECT_EQ(recording.accesses.back().line, 12u);
  }
}

TEST(SimObserver, barriersMatricesAndBulkCopies) {
  alignas(16) static char data[128];
  const Recording recording(".param .u64 data", R"(.reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mov.u32 %r2, 2048; setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [0], [%rd1], 128, [%r2];
wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra wait;
    and.b32 %r3, %r1, 7; shl.b32 %r3, %r3, 4;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];
    ret;)",
                            SimArguments().add(&data[0]));
  const std::vector<Seen> init = recording.at(9), arrive = recording.at(10), bulk = recording.at(11),
                          test = recording.at(13), matrix = recording.at(16);
  ASSERT_TRUE(init.size() == 1 && arrive.size() == 1 && bulk.size() == 4 && test.size() >= 1 && matrix.size() == 1);
  EXPECT_TRUE(init[0].writes && !init[0].isAtomic && init[0].lanes == 1);
  EXPECT_TRUE(arrive[0].isAtomic && arrive[0].order == Order::Release && arrive[0].scope == sim::Scope::Cta);
  EXPECT_TRUE(test[0].isAtomic && test[0].order == Order::Acquire && !test[0].writes);
  EXPECT_TRUE(bulk[0].stage == Stage::Issue && bulk[2].stage == Stage::Effect && bulk[2].proxy == Proxy::Async);
  EXPECT_EQ(bulk[3].bytes, 128u);
  EXPECT_TRUE(matrix[0].lanes == 0xff && matrix[0].bytes == 16);
}

/// An observer that objects ends the launch, and the access does not happen.
TEST(SimObserver, stopsTheLaunch) {
  struct Refuse : sim::Observer {
    bool onAccess(sim::Warp &warp, const sim::MemoryAccess &access) override {
      return !access.writes || (sim::fail(warp, *access.instruction, "test", "refused", 3), false);
    }
  };
  uint32_t word = 7;
  const std::string ptx = simKernel(".param .u64 data", R"(.reg .b64 %rd<2>;
    ld.param.u64 %rd1, [data];
    st.global.u32 [%rd1], 1;
    ret;)");
  const auto make = [](sim::Cluster &) { return std::make_shared<Refuse>(); };
  auto done = runSim(ptx, SimArguments().add(&word), {}, {.x = 32}, 0, 0, 0, {}, {make});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "test");
  EXPECT_NE(done.error().text.find("lane 3"), std::string::npos) << done.error().text;
  EXPECT_EQ(word, 7u);
}

TEST(SimObserver, misalignedAccessesAreFaults) {
  alignas(16) static char data[64];
  for (const char *access : {"ld.global.u32 %r1, [%rd1+2];", "ld.global.v2.u32 {%r1, %r2}, [%rd1+4];",
                             "st.shared.u16 [3], 0;", "atom.global.add.u32 %r1, [%rd1+1], 1;",
                             "cp.async.cg.shared.global [16], [%rd1+8], 16;", "mbarrier.init.shared.b64 [4], 1;"}) {
    const std::string ptx =
        simKernel(".param .u64 data",
                  ".reg .b32 %r<4>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [data];\n" + std::string(access) + "\nret;");
    auto done = runSim(ptx, SimArguments().add(&data[0]), {}, {.x = 1}, 0, 0, 64);
    ASSERT_FALSE(done) << access;
    EXPECT_EQ(done.error().code, "sim-misaligned") << done.error().text;
    EXPECT_NE(done.error().text.find("line 8 of the PTX"), std::string::npos) << done.error().text;
  }
}
