// The line table of PTX, and the positions in reports of the simulated GPU.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimKernel.h"

#include "runtime/sim/machine/Observer.h"
#include "runtime/sim/ptx/LineTable.h"

#include <cstdio>
#include <fstream>

using namespace nereid;

TEST(SimReport, lineTable) {
  const std::vector<std::string> lines = {
      ".file 1 \"/a/kernel.py\"", ".visible .entry k(",
      "mov.u32 %r0, 0;",          "\t.loc\t1 9 5",
      "mov.u32 %r1, 0;",          "\t.loc\t2 4 7, function_name $L__name, inlined_at 1 9 5",
      "mov.u32 %r2, 0;",          "\t.loc\t2 3 1, function_name $L__name+4, inlined_at 2 4 7",
      "mov.u32 %r3, 0;",          ".func f(",
      "mov.u32 %r4, 0;",          "\t.file\t2 \"<lib>/sum.py\", 0, 0"};
  const sim::LineTable table(lines);
  EXPECT_FALSE(table.positionOf(3));
  EXPECT_EQ(table.positionOf(5).text(), "/a/kernel.py:9:5");
  EXPECT_EQ(table.positionOf(7).text(), "<lib>/sum.py:4:7");
  const std::vector<sim::SourcePosition> chain = table.positionsOf(9);
  ASSERT_EQ(chain.size(), 3u);
  EXPECT_EQ(chain[0].text(), "<lib>/sum.py:3:1");
  EXPECT_EQ(chain[1].text(), "<lib>/sum.py:4:7");
  EXPECT_EQ(chain[2].text(), "/a/kernel.py:9:5");
  EXPECT_FALSE(table.positionOf(11));
}

namespace {
struct Object : sim::Observer {
  bool onAccess(sim::Warp &warp, const sim::MemoryAccess &access) override {
    if (access.space != sim::Space::Shared)
      return true;
    const sim::Note notes[] = {{access.instruction, "the other one"}};
    sim::fail(warp, *access.instruction, "sanitize-test", "wrong", 5, {notes[0]});
    return false;
  }
};
} // namespace

static std::string textOf(const std::string &body, bool isSanitized) {
  const std::string path = testing::TempDir() + "sim_report.py";
  std::ofstream(path) << "first\n    second = 2\n";
  const auto make = [](sim::Cluster &) { return std::make_shared<Object>(); };
  auto done = runSim(simKernel("", ".loc 1 2 14\n" + body + "\nret;", ".file 1 \"" + path + "\""), {}, {}, {.x = 32}, 0,
                     0, 64, {}, isSanitized ? std::vector<sim::MakeObserver>{make} : std::vector<sim::MakeObserver>{});
  EXPECT_FALSE(done);
  std::string text = done ? "" : done.error().text;
  for (size_t at = text.find(path); at != std::string::npos; at = text.find(path))
    text.replace(at, path.size(), "k.py");
  return text;
}

TEST(SimReport, sanitizersHaveTheFormOfTheCpu) {
  EXPECT_EQ(textOf("  st.shared.u32 [8], 1;", true), R"(k.py:2:14: error: wrong [sanitize-test]
    second = 2
             ^
note: in program (0, 0, 0) of `kernel`, warp 0, lane 5
note: line 8 of the PTX: st.shared.u32 [8], 1;
k.py:2:14: note: the other one
    second = 2
             ^)");
}

TEST(SimReport, faultsAreOneLine) {
  EXPECT_EQ(textOf("  st.shared.u32 [6], 1;", false),
            "misaligned access: address 0x6 is no multiple of 4 (program 0, 0, 0, warp 0, lane 0) at k.py:2:14, line 8 "
            "of the PTX: st.shared.u32 [6], 1;");
}
