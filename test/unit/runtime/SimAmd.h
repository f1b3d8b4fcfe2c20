// Executes instructions of AMD's GPUs in the lanes of waves: each lane has registers from memory and stores some.
// SPDX-License-Identifier: MIT
#pragma once

#include "test/unit/runtime/SimKernel.h"

namespace nereid {

/// Registers by lane.
using LaneWords = std::vector<std::vector<uint32_t>>;

inline std::string withWave(const std::string &ptx, unsigned lanes) {
  std::string text = ptx;
  text.insert(text.find('\n', text.find(".address_size")), "\n.pragma \"wave " + std::to_string(lanes) + "\";");
  return text;
}

/// `code` has %r0 and so on of each lane, and sets %o0 and so on, which are zero before; further registers: %t0 to %t7,
/// %q0 to %q3 of 64 bits, %p0 to %p3, and the lane in %lane.
inline sim::Expected<LaneWords> runWaves(unsigned waveLanes, const std::string &code, const LaneWords &inputs,
                                         unsigned numResults) {
  const size_t numInputs = inputs[0].size();
  std::string body = "    .reg .b32 %r<" + std::to_string(numInputs) + ">; .reg .b32 %o<" + std::to_string(numResults) +
                     R"(>;
    .reg .b32 %t<8>; .reg .b64 %q<4>; .reg .pred %p<4>; .reg .b32 %lane; .reg .b64 %a; .reg .b64 %b;
    mov.u32 %lane, %tid.x;
    ld.param.u64 %a, [in];
    mad.wide.u32 %a, %lane, )" +
                     std::to_string(numInputs * 4) + ", %a;\n";
  for (size_t index = 0; index < numInputs; ++index)
    body += "    ld.global.b32 %r" + std::to_string(index) + ", [%a+" + std::to_string(index * 4) + "];\n";
  for (unsigned index = 0; index < numResults; ++index)
    body += "    mov.b32 %o" + std::to_string(index) + ", 0;\n";
  body += "    " + code + "\n    ld.param.u64 %b, [out];\n    mad.wide.u32 %b, %lane, " +
          std::to_string(numResults * 4) + ", %b;\n";
  for (unsigned index = 0; index < numResults; ++index)
    body += "    st.global.b32 [%b+" + std::to_string(index * 4) + "], %o" + std::to_string(index) + ";\n";
  std::vector<uint32_t> in, out(inputs.size() * numResults);
  for (const auto &lane : inputs)
    in.insert(in.end(), lane.begin(), lane.end());
  SimArguments arguments;
  arguments.add(in.data()).add(out.data());
  auto counters = runSim(withWave(simKernel(".param .u64 in, .param .u64 out", body + "    ret;"), waveLanes),
                         arguments, {}, {.x = uint32_t(inputs.size())});
  if (!counters)
    return counters.error();
  LaneWords results;
  for (size_t lane = 0; lane < inputs.size(); ++lane)
    results.emplace_back(out.begin() + ptrdiff_t(lane * numResults), out.begin() + ptrdiff_t((lane + 1) * numResults));
  return results;
}

struct SimRandom {
  uint64_t state = 12345;
  uint32_t next() {
    state = state * 6364136223846793005 + 1442695040888963407;
    return uint32_t(state >> 33) ^ uint32_t(state >> 11 << 16);
  }
};

inline LaneWords randomLanes(unsigned lanes, unsigned words, uint64_t seed = 1) {
  SimRandom random{seed};
  LaneWords result(lanes, std::vector<uint32_t>(words));
  for (auto &lane : result)
    for (uint32_t &word : lane)
      word = random.next();
  return result;
}

} // namespace nereid
