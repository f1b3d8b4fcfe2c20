// Checks the inline math functions of f64, which machines without a libm use, against libm's long double.
// SPDX-License-Identifier: MIT

#include "MathJit.h"
#include "Ulp.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace nereid::math::testing {
namespace {

/// This machine without libm; null where it has no FMA.
const Machine *withoutLibm() {
  static Machine machine = hostMachines().back();
  machine.math.hasLibm = false;
  return machine.math.hasFma ? &machine : nullptr;
}

/// As above, without branches, as for threads that share a program counter.
const Machine *withoutBranches() {
  static Machine machine = hostMachines().back();
  machine.math.hasLibm = false;
  machine.math.avoidsBranches = true;
  return machine.math.hasFma ? &machine : nullptr;
}

/// Numbers where a function changes its behaviour, with their neighbours, each with both signs.
std::vector<double> specialDoubles() {
  const double landmarks[] = {0.0, 0x1p-1074, 0x1p-1022, 0x1p-54, 0x1p-28, 0.25, 0.34657359027997264, 0.41421356, 0.5,
                              0.5494, 0.7071067811865476, 1.0, 1.4142135623730951, 1.5707963267948966, 2.0,
                              3.141592653589793, 5.93, 9.1, 19.1, 20.0, 36.7, 37.5, 40.0, 700.0, 709.78, 710.0, 745.13,
                              746.0, 1023.0, 1024.0, 1025.0, 1074.0, 1076.0, 0x1p20, 0x1p52, 0x1p54, 0x1p512, 0x1p1023,
                              std::numeric_limits<double>::max(), std::numeric_limits<double>::infinity(),
                              // Close to multiples of pi/2; the first is the closest of all.
                              6381956970095103.0 * 0x1p797, 5.319372648326541e255, 411775.0 * 1.5707963267948966,
                              0x1.921fb54442d18p30, 0x1.6ac5b262ca1ffp849};
  std::vector<double> numbers;
  for (const double landmark : landmarks)
    for (const double near : {std::nextafter(landmark, 0.0), landmark, std::nextafter(landmark, INFINITY)})
      numbers.insert(numbers.end(), {near, -near});
  for (const uint64_t bits : {0x7ff8000000000001u, 0x7fffffffffffffffu, 0x7ff0000000000001u, 0xfff8000000000123u})
    numbers.push_back(std::bit_cast<double>(bits));
  return numbers;
}

/// Bit patterns over the whole range, and more of the exponents where functions curve.
std::vector<double> sampledDoubles() {
  std::vector<double> samples;
  uint64_t state = 1;
  const auto next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  for (unsigned i = 0; i < 60000; ++i)
    samples.push_back(std::bit_cast<double>(next()));
  for (unsigned i = 0; i < 200000; ++i) {
    const double fraction = std::bit_cast<double>(next() >> 12 | 0x3ff0000000000000);
    samples.push_back(std::ldexp(next() >> 63 ? -fraction : fraction, static_cast<int>(next() >> 59) - 20));
  }
  return samples;
}

void expectAccurate(const MathFunction &function, const Machine &machine, unsigned lanes, std::vector<double> from) {
  while (from.size() % lanes != 0)
    from.push_back(1.0);
  llvm::Expected<MathJit> code =
      MathJit::create({.function = &function, .machine = &machine, .lanes = lanes, .isDouble = true});
  ASSERT_TRUE(static_cast<bool>(code)) << llvm::toString(code.takeError());
  std::vector<double> to(from.size());
  (*code)(from.data(), to.data(), static_cast<int64_t>(from.size()));
  double worst = 0, worstAt = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    const long double exact = function.wideReference(from[i]);
    const double error = wideUlpError(to[i], exact);
    if (error > worst)
      worst = error, worstAt = from[i];
    ASSERT_LE(error, function.maxWideUlp) << function.name << "(" << std::hexfloat << from[i] << ") is " << to[i]
                                          << ", should be " << static_cast<double>(exact);
  }
  ::testing::Test::RecordProperty(function.name, std::to_string(worst) + " ulp at " + std::to_string(worstAt));
}

TEST(WideMath, SpecialNumbersAreRight) {
  if (!withoutLibm())
    GTEST_SKIP() << "inline f64 functions need FMA";
  for (const MathFunction &function : mathFunctions())
    for (const Machine *machine : {withoutLibm(), withoutBranches()})
      expectAccurate(function, *machine, 1, specialDoubles());
}

TEST(WideMath, SampledNumbersAreWithinTheBound) {
  if (!withoutLibm())
    GTEST_SKIP() << "inline f64 functions need FMA";
  for (const MathFunction &function : mathFunctions())
    expectAccurate(function, *withoutLibm(), 1, sampledDoubles());
}

TEST(WideMath, BranchFreeSinglesAreAsAccurate) {
  if (!withoutBranches())
    GTEST_SKIP() << "needs FMA";
  std::vector<float> from;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 16411)
    from.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (const MathFunction &function : mathFunctions()) {
    llvm::Expected<MathJit> code = MathJit::create({.function = &function, .machine = withoutBranches(), .lanes = 1});
    ASSERT_TRUE(static_cast<bool>(code)) << llvm::toString(code.takeError());
    std::vector<float> to(from.size());
    (*code)(from.data(), to.data(), static_cast<int64_t>(from.size()));
    for (size_t i = 0; i < from.size(); ++i)
      ASSERT_LE(ulpError(to[i], function.reference(from[i])), function.maxUlpWithFma)
          << function.name << "(" << std::hexfloat << from[i] << ") is " << to[i];
  }
}

} // namespace
} // namespace nereid::math::testing
