// Tests that options which change the code change the key of a compilation.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"
#include "compiler/sema/TtModuleEmitter.h"
#include "gtest/gtest.h"

#include <set>

using namespace nereid;

static std::string keyOf(const support::Options &options) {
  sema::KernelRequest request;
  request.options = options;
  request.target = {"cpu", "x86-64-v3", "", 0};
  return driver::cacheKey(request, "source", "signature");
}

TEST(CacheKey, every_option_of_amd_gpus_is_part_of_it) {
  const support::Options variants[] = {{},
                                       {.wavesPerEu = 1},
                                       {.wavesPerEu = 2},
                                       {.matrixInstrNonKDim = 1},
                                       {.matrixInstrNonKDim = 2},
                                       {.kpack = 1},
                                       {.kpack = 2},
                                       {.flushDenormals = true},
                                       {.useBufferOps = false},
                                       {.useAsyncCopy = true},
                                       {.useAsyncCopy = false},
                                       {.useBufferOps = false, .useAsyncCopy = true}};
  std::set<std::string> keys;
  for (const support::Options &options : variants)
    keys.insert(keyOf(options));
  EXPECT_EQ(keys.size(), std::size(variants));
  EXPECT_EQ(keyOf({}), keyOf({}));
}
