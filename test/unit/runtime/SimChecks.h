// Helpers of the tests of the simulator's checks: runs a kernel with races and synchronisation checked.
// SPDX-License-Identifier: MIT
#pragma once

#include "test/unit/runtime/SimKernel.h"

#include <algorithm>
#include <vector>

namespace nereid {

/// The text of a kernel with registers %r0 to %r9, %p0 to %p3, %rd0 to %rd5, %f0 to %f3 and 16384 bytes of shared
/// memory; %r0 is the thread, %r1 the CTA, %r2 the address of shared memory, %rd0 the argument.
inline std::string checkedKernel(const std::string &code) {
  return simKernel(".param .u64 out", R"(
    .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<6>; .reg .f32 %f<4>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, memory;
    ld.param.u64 %rd0, [out];
    )" + code + "\n    ret;",
                   ".extern .shared .align 1024 .b8 memory[];");
}

/// The report of a run, or empty.
inline std::string checkedRun(const std::string &code, uint32_t threads, uint64_t seed, sim::Dim grid = {},
                              sim::Dim cluster = {}) {
  alignas(128) static std::vector<uint32_t> out(65536);
  std::fill(out.begin(), out.end(), 0);
  auto module = sim::parse(checkedKernel(code));
  if (!module)
    return module.error().text;
  SimArguments arguments;
  arguments.add(out.data());
  sim::Launch launch;
  launch.entry = "kernel";
  launch.grid = grid;
  launch.block = {.x = threads};
  launch.cluster = cluster;
  launch.sharedBytes = 16384;
  launch.params = arguments.bytes;
  launch.seed = seed;
  launch.maxInstructions = 1000000;
  launch.checks = artifact::Race | artifact::Sync;
  auto done = sim::run(**module, launch);
  return done ? std::string() : done.error().code + ": " + done.error().text;
}

/// No report on any of some seeds.
inline void expectClean(const std::string &code, uint32_t threads, sim::Dim grid = {}, sim::Dim cluster = {}) {
  for (uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_EQ(checkedRun(code, threads, seed, grid, cluster), "") << "seed " << seed;
}

/// A report with the code (or its beginning) and all of `parts`, on every seed.
inline void expectReport(const std::string &code, uint32_t threads, const std::string &errorCode,
                         const std::vector<std::string> &parts, sim::Dim grid = {}, sim::Dim cluster = {}) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const std::string text = checkedRun(code, threads, seed, grid, cluster);
    EXPECT_TRUE(text.starts_with(errorCode)) << "seed " << seed << ": " << text;
    for (const std::string &part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
}

/// A report on some seeds, where others make the waits unnecessary.
inline void expectReportOnSomeSeed(const std::string &code, uint32_t threads, const std::string &errorCode) {
  unsigned count = 0;
  for (uint64_t seed = 0; seed < 16; ++seed)
    count += checkedRun(code, threads, seed).starts_with(errorCode);
  EXPECT_GT(count, 0u);
}

/// `text` with the only `from` in it replaced.
inline std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from << " is there twice";
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

} // namespace nereid
