// An artifact with a value in every field, for tests.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"

namespace nereid::artifact {

inline Artifact sampleArtifact() {
  Artifact sample;
  sample.name = "add_kernel";
  sample.entry = "add_kernel_0d1d";
  sample.hash = "0123456789abcdef0123456789abcdef";
  sample.signature = "*fp32:16,i32:16,1024";
  sample.target = {"cpu", "znver3", "+avx2,+fma", 32};
  sample.abi = Abi::Own;
  sample.parameters = {{"x", ParameterKind::Pointer, "*fp32", 0, 8},
                       {"n", ParameterKind::Int, "i32", 8, 4},
                       {"scale", ParameterKind::Float, "fp32", 12, 4},
                       {"flag", ParameterKind::Bool, "u1", 16, 1},
                       {"desc", ParameterKind::Descriptor, "tensordesc<fp16[64, 64]>", 64, 128}};
  sample.parameters[0].isWritten = false;
  sample.preconditions = {
      {PreconditionKind::Divisible, 0, 16}, {PreconditionKind::Equals, 1, 1}, {PreconditionKind::Within, 0, ~0ull}};
  sample.tensorMaps = {{{{Argument, 0}},
                        {{{Constant, 64}}, {{Argument, 1}}},
                        {{{Argument, 1, Constant, 2, Mul}}},
                        {64, 128},
                        6,
                        2,
                        128,
                        true}};
  sample.conditions = {{{Argument, 1, Constant, -5, Add}}};
  sample.persistent = true;
  sample.options = {{"num_warps", "4"}, {"input_precision", "\"tf32\""}, {"debug", "true"}};
  sample.blockDims = {128, 1, 1};
  sample.clusterDims = {2, 1, 1};
  sample.cooperative = true;
  sample.programmaticLaunch = true;
  sample.sharedBytes = 1;
  sample.globalScratchBytes = 256;
  sample.globalScratchAlign = 128;
  sample.profileScratchBytes = 64;
  sample.profileScratchAlign = 8;
  sample.arenaBytes = 65536;
  sample.arenaAlign = 64;
  sample.registers = 32;
  sample.spills = 3;
  sample.tool = "lld";
  sample.toolVersion = "22.1.8";
  sample.sourceMap = {{"/home/someone/kernel.py", "stdlib/reduce.py"}, {{0, 0, 12, 4}, {64, 1, 3, 0}}};
  sample.binary = std::string("\x7f"
                              "ELF\0\xff\xfe",
                              7);
  sample.stages = {
      {"ttir", std::string(20000, 'x') + "module {}"}, {"empty", ""}, {"asm", "short"}, {"so", sample.binary}};
  return sample;
}

} // namespace nereid::artifact
