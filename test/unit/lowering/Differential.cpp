// Runs a kernel on the CPU target and as simulated GPU threads, and compares the results.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "test/unit/math/Ulp.h"
#include "test/unit/target_cpu/LoadedKernel.h"

#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::simt;

/// Copies of the buffers in sequence, each aligned to 64 bytes and followed by a gap that must not be written.
class Memory {
public:
  explicit Memory(const Case &test) {
    for (const Parameter &parameter : test.parameters)
      if (const auto *buffer = std::get_if<Buffer>(&parameter)) {
        begins.push_back(size + gap);
        sizes.push_back(buffer->bytes.size());
        size = (size + 2 * gap + buffer->bytes.size() + 63) / 64 * 64;
      }
    bytes.assign(size + 64, char(0x5A));
    base = bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64;
    size_t next = 0;
    for (const Parameter &parameter : test.parameters)
      if (const auto *buffer = std::get_if<Buffer>(&parameter))
        std::copy(buffer->bytes.begin(), buffer->bytes.end(), base + begins[next++]);
  }
  char *at(size_t index) const { return base + begins[index]; }
  std::vector<std::vector<char>> contents() const {
    std::vector<std::vector<char>> all;
    for (size_t index = 0; index < begins.size(); ++index)
      all.emplace_back(at(index), at(index) + sizes[index]);
    return all;
  }
  bool gapsAreWhole() const {
    for (size_t index = 0; index < begins.size(); ++index)
      for (size_t byte = 0; byte < gap; ++byte)
        if (at(index)[-1 - static_cast<ptrdiff_t>(byte)] != 0x5A || at(index)[sizes[index] + byte] != 0x5A)
          return false;
    return true;
  }

private:
  static constexpr size_t gap = 64;
  std::vector<size_t> begins, sizes;
  size_t size = 0;
  std::vector<char> bytes;
  char *base = nullptr;
};

template <typename List> static List argumentsOf(const Case &test, const Memory &memory) {
  List arguments;
  size_t next = 0;
  for (const Parameter &parameter : test.parameters) {
    if (std::holds_alternative<Buffer>(parameter))
      arguments.add(memory.at(next++));
    else if (const auto *narrow = std::get_if<int32_t>(&parameter))
      arguments.add(*narrow);
    else if (const auto *wide = std::get_if<int64_t>(&parameter))
      arguments.add(*wide);
    else
      arguments.add(std::get<float>(parameter));
  }
  return arguments;
}

std::vector<std::vector<char>> simt::runOnCpu(const Case &test) {
  std::string error;
  auto kernel = cpu_test::LoadedKernel::compile(test.text, &error);
  EXPECT_TRUE(kernel) << error << test.text;
  if (!kernel)
    return {};
  Memory memory(test);
  kernel->run(test.grid, argumentsOf<cpu_test::Arguments>(test, memory));
  return memory.contents();
}

/// The first difference as text; empty where there is none.
template <typename T, typename Measure>
static std::string differenceOf(const std::vector<char> &a, const std::vector<char> &b, Measure &&measure) {
  for (size_t index = 0; index < a.size() / sizeof(T); ++index) {
    T x, y;
    std::memcpy(&x, a.data() + index * sizeof(T), sizeof(T));
    std::memcpy(&y, b.data() + index * sizeof(T), sizeof(T));
    if (!measure(x, y))
      return "element " + std::to_string(index) + " is " + std::to_string(x) + ", on the CPU " + std::to_string(y);
  }
  return "";
}

/// Equal, or both NaN, for 16-bit floats whose exponent has the bits of `exponent`.
static auto sameHalves(uint16_t exponent) {
  return [exponent](uint16_t x, uint16_t y) {
    auto isNan = [&](uint16_t bits) { return (bits & 0x7fff) > exponent; };
    return x == y || (isNan(x) && isNan(y));
  };
}

static std::string differenceOf(Buffer::Kind kind, double maxUlp, const std::vector<char> &a,
                                const std::vector<char> &b) {
  switch (kind) {
  case Buffer::Kind::Bytes:
    return differenceOf<uint8_t>(a, b, [](uint8_t x, uint8_t y) { return x == y; });
  case Buffer::Kind::Half:
    return differenceOf<uint16_t>(a, b, sameHalves(0x7c00));
  case Buffer::Kind::BFloat:
    return differenceOf<uint16_t>(a, b, sameHalves(0x7f80));
  case Buffer::Kind::Single:
    return differenceOf<float>(a, b, [&](float x, float y) { return math::testing::ulpError(x, y) <= maxUlp; });
  case Buffer::Kind::Double:
    return differenceOf<double>(a, b, [&](double x, double y) { return math::testing::wideUlpError(x, y) <= maxUlp; });
  }
  return "";
}

static void compare(const Case &test, const std::vector<std::vector<char>> &got,
                    const std::vector<std::vector<char>> &expected, const std::string &where) {
  size_t next = 0;
  for (const Parameter &parameter : test.parameters)
    if (const auto *buffer = std::get_if<Buffer>(&parameter)) {
      ASSERT_EQ(differenceOf(buffer->kind, test.maxUlp, got[next], expected[next]), "") << "buffer " << next << where;
      ++next;
    }
}

void simt::expectSameAsCpu(const Case &test) {
  const std::vector<std::vector<char>> expected = runOnCpu(test);
  if (expected.empty())
    return;
  for (unsigned numWarps : test.warps) {
    std::string error;
    auto kernel =
        SimtKernel::compile(test.text, numWarps, &error, test.hasWarpGroups, test.hasTensorCopies, test.numCtas);
    ASSERT_TRUE(kernel) << error;
    for (const std::string &text : test.expected)
      ASSERT_NE(kernel->ttgir.find(text), std::string::npos) << text << " is not in " << kernel->ttgir;
    for (const auto &[text, count] : test.counted)
      ASSERT_EQ(llvm::StringRef(kernel->ttgir).count(text), count) << text << " in " << kernel->ttgir;
    for (Order order : {Order::Ascending, Order::AtOnce, Order::Mixed, Order::OtherMixed}) {
      Memory memory(test);
      const std::string where = ", " + std::to_string(numWarps) + " warps, order " +
                                std::to_string(static_cast<int>(order)) + "\n" + kernel->ttgir;
      std::string failure;
      ASSERT_TRUE(kernel->run(test.grid, argumentsOf<Arguments>(test, memory), order, &failure)) << failure << where;
      ASSERT_TRUE(memory.gapsAreWhole()) << "writes outside its buffers" << where;
      compare(test, memory.contents(), expected, where);
    }
  }
}

Buffer nereid::simt::smallNumbers(size_t count, uint64_t seed) {
  constexpr uint16_t codes[] = {0x0000, 0x3c00, 0x4000, 0x4200};
  std::vector<uint16_t> values = someNumbers<uint16_t>(count, seed);
  for (uint16_t &value : values)
    value = codes[value & 3];
  return Buffer::of(values);
}
