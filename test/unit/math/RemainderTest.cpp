// Checks fmod against libm: both are exact.
// SPDX-License-Identifier: MIT

#include "MathJit.h"

#include "llvm/IR/IRBuilder.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace nereid::math::testing {
namespace {

// MathJit's functions have one argument: the divisor is a global, and code is generated again for each.
template <typename Float> Float divisor;

template <typename Float>
llvm::Value *emitByDivisor(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host) {
  llvm::Value *address = builder.getInt64(reinterpret_cast<uint64_t>(&divisor<Float>));
  llvm::Value *y = builder.CreateLoad(x->getType(), builder.CreateIntToPtr(address, builder.getPtrTy()), true);
  return emitFmod(builder, x, y, host);
}

template <typename Float, typename Bits> void expectExact() {
  const Machine &machine = hostMachines().back();
  if (!machine.math.hasFma)
    GTEST_SKIP() << "fmod needs FMA";
  const MathFunction function = {"fmod", emitByDivisor<Float>, nullptr, 0, 0, nullptr, 0};
  llvm::Expected<MathJit> code = MathJit::create(
      {.function = &function, .machine = &machine, .lanes = 1, .isDouble = sizeof(Float) == sizeof(double)});
  ASSERT_TRUE(static_cast<bool>(code)) << llvm::toString(code.takeError());
  using Limits = std::numeric_limits<Float>;
  std::vector<Float> numbers = {0,
                                -Float(0),
                                1,
                                -3,
                                Float(0.1),
                                Float(5.5),
                                Limits::min(),
                                Limits::denorm_min(),
                                Limits::max(),
                                Limits::infinity(),
                                Limits::quiet_NaN(),
                                Limits::min() * 3,
                                Limits::denorm_min() * 12345};
  uint64_t state = 7;
  for (unsigned i = 0; i < 300; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    numbers.push_back(std::bit_cast<Float>(static_cast<Bits>(state >> (64 - sizeof(Bits) * 8))));
    numbers.push_back(std::ldexp(Float(state >> 40), -int(state >> 59)));
  }
  std::vector<Float> results(numbers.size());
  for (const Float y : numbers) {
    divisor<Float> = y;
    (*code)(numbers.data(), results.data(), static_cast<int64_t>(numbers.size()));
    for (size_t i = 0; i < numbers.size(); ++i) {
      const Float exact = std::fmod(numbers[i], y);
      const bool isSame =
          std::isnan(exact) ? std::isnan(results[i]) : std::bit_cast<Bits>(exact) == std::bit_cast<Bits>(results[i]);
      ASSERT_TRUE(isSame) << "fmod(" << std::hexfloat << numbers[i] << ", " << y << ") is " << results[i]
                          << ", should be " << exact;
    }
  }
}

TEST(Remainder, SinglesAreExact) { expectExact<float, uint32_t>(); }
TEST(Remainder, DoublesAreExact) { expectExact<double, uint64_t>(); }

} // namespace
} // namespace nereid::math::testing
