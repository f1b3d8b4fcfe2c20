// mma.sync of the simulator with elements narrower than a byte, and with sparse left operands.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimKernel.h"

#include <bit>

using namespace nereid;

namespace {
/// Registers of the 32 lanes: `words[lane][index]`.
using Registers = std::vector<std::array<uint32_t, 16>>;

struct Random {
  uint64_t state = 12345;
  uint32_t next() {
    state = state * 6364136223846793005 + 1442695040888963407;
    return uint32_t(state >> 33);
  }
};

/// Runs an instruction whose operands are %r0 to %r15 of each lane, and returns %o0 to %o3.
std::vector<std::array<uint32_t, 4>> runProduct(const std::string &instruction, const Registers &registers) {
  std::string body = R"(
    .reg .b32 %r<16>; .reg .b32 %o<4>; .reg .b32 %t; .reg .b64 %a; .reg .b64 %b;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [in];
    mad.wide.u32 %a, %t, 64, %a;)";
  for (unsigned index = 0; index < 16; index += 4)
    body += "\n    ld.global.v4.b32 {%r" + std::to_string(index) + ", %r" + std::to_string(index + 1) + ", %r" +
            std::to_string(index + 2) + ", %r" + std::to_string(index + 3) + "}, [%a+" + std::to_string(index * 4) +
            "];";
  for (unsigned index = 0; index < 4; ++index)
    body += "\n    mov.b32 %o" + std::to_string(index) + ", %r" + std::to_string(12 + index) + ";";
  body += "\n    " + instruction + R"(
    ld.param.u64 %b, [out];
    mad.wide.u32 %b, %t, 16, %b;
    st.global.v4.b32 [%b], {%o0, %o1, %o2, %o3};
    ret;)";
  std::vector<std::array<uint32_t, 4>> out(32);
  SimArguments arguments;
  arguments.add(registers.data()).add(out.data());
  auto counters = runSim(simKernel(".param .u64 in, .param .u64 out", body), arguments, {}, {.x = 32});
  EXPECT_TRUE(counters) << counters.error().text;
  return out;
}

int32_t signExtended(uint32_t bits) { return bits & 8 ? int32_t(bits) - 16 : int32_t(bits); }
} // namespace

/// m16n8k64 of s4 and u4: registers 0 to 3 are the left matrix, 4 and 5 the right one, 12 to 15 the accumulators.
TEST(SimProduct, nibbles) {
  Random random;
  Registers registers(32);
  int32_t left[16][64], right[64][8];
  for (auto &row : left)
    for (int32_t &element : row)
      element = signExtended(random.next() & 15);
  for (auto &row : right)
    for (int32_t &element : row)
      element = int32_t(random.next() & 15);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned k = 0; k < 64; ++k)
      registers[row % 8 * 4 + k % 32 / 8][row / 8 + k / 32 * 2] |= uint32_t(left[row][k] & 15) << k % 8 * 4;
  for (unsigned k = 0; k < 64; ++k)
    for (unsigned column = 0; column < 8; ++column)
      registers[column * 4 + k % 32 / 8][4 + k / 32] |= uint32_t(right[k][column]) << k % 8 * 4;
  for (auto &lane : registers)
    for (unsigned index = 12; index < 16; ++index)
      lane[index] = random.next();
  const auto out = runProduct("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 {%o0, %o1, %o2, %o3}, "
                              "{%r0, %r1, %r2, %r3}, {%r4, %r5}, {%o0, %o1, %o2, %o3};",
                              registers);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      const unsigned lane = row % 8 * 4 + column / 2, index = row / 8 * 2 + column % 2;
      uint32_t expected = registers[lane][12 + index];
      for (unsigned k = 0; k < 64; ++k)
        expected += uint32_t(left[row][k] * right[k][column]);
      EXPECT_EQ(out[lane][index], expected) << row << ", " << column;
    }
}

/// m8n8k128 of bits: lane l has row l / 4 of the left matrix and column l / 4 of the right one, 32 bits from l % 4.
TEST(SimProduct, bits) {
  for (const bool isXor : {false, true}) {
    Random random;
    Registers registers(32);
    for (auto &lane : registers)
      for (uint32_t &word : lane)
        word = random.next() * 2654435761u;
    const auto out = runProduct(std::string("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.") +
                                    (isXor ? "xor" : "and") + ".popc {%o0, %o1}, {%r0}, {%r1}, {%o0, %o1};",
                                registers);
    for (unsigned row = 0; row < 8; ++row)
      for (unsigned column = 0; column < 8; ++column) {
        const unsigned lane = row * 4 + column / 2;
        uint32_t expected = registers[lane][12 + column % 2];
        for (unsigned word = 0; word < 4; ++word) {
          const uint32_t a = registers[row * 4 + word][0], b = registers[column * 4 + word][1];
          expected += uint32_t(std::popcount(isXor ? a ^ b : a & b));
        }
        EXPECT_EQ(out[lane][column % 2], expected) << row << ", " << column;
      }
  }
}

namespace {
/// A sparse left matrix of small integers, as a dense one and as registers 0 to 3 with metadata in register 8; the
/// right matrix is in registers 4 to 7. T is a number as its bits.
struct SparseCase {
  unsigned depth, bytes, selector;
  uint32_t (*bitsOf)(int);
  Registers registers = Registers(32);
  int left[16][64] = {}, right[64][8] = {};

  void fill();
  void fillRow(unsigned row, Random &random);
};
} // namespace

void SparseCase::fillRow(unsigned row, Random &random) {
  const unsigned chunk = bytes == 4 ? 2 : 4, perWord = 4 / bytes;
  for (unsigned index = 0; index < depth / chunk; ++index) {
    unsigned positions[2] = {random.next() % (chunk - 1), 0};
    positions[1] = positions[0] + 1 + random.next() % (chunk - 1 - positions[0]);
    if (bytes == 4)
      positions[0] = random.next() & 1;
    const uint32_t nibble = bytes == 4 ? positions[0] ? 0b1110 : 0b0100 : positions[0] | positions[1] << 2;
    // Which word of the four of a row's group of lanes, and which bits of it.
    const unsigned word = bytes == 1 ? index / 8 * 2 + row / 8 : index / 4;
    const unsigned shift = bytes == 1 ? index % 8 * 4 : row / 8 * 16 + index % 4 * 4;
    const unsigned words = bytes == 1 ? depth / 16 : depth / chunk / 4;
    registers[row % 8 * 4 + selector * words + word][8] |= nibble << shift;
    for (unsigned part = 0; part < (bytes == 4 ? 1u : 2u); ++part) {
      const int value = int(random.next() % 7) - 3;
      left[row][index * chunk + positions[part]] = value;
      const unsigned stored = bytes == 4 ? index : index * 2 + part;
      const unsigned lane = row % 8 * 4 + stored / perWord % 4, at = row / 8 + stored / (4 * perWord) * 2;
      registers[lane][at] |= bitsOf(value) << stored % perWord * bytes * 8;
    }
  }
}

void SparseCase::fill() {
  Random random;
  for (unsigned row = 0; row < 16; ++row)
    fillRow(row, random);
  const unsigned perWord = 4 / bytes;
  for (unsigned k = 0; k < depth; ++k)
    for (unsigned column = 0; column < 8; ++column) {
      right[k][column] = int(random.next() % 7) - 3;
      registers[column * 4 + k / perWord % 4][4 + k / (4 * perWord)] |= bitsOf(right[k][column])
                                                                        << k % perWord * bytes * 8;
    }
}

static void expectSparse(SparseCase sparse, const std::string &types, bool isInteger = false) {
  sparse.fill();
  const unsigned numLeft = sparse.depth * sparse.bytes / 16;
  std::string left, right;
  for (unsigned index = 0; index < numLeft; ++index) {
    left += (index ? ", %r" : "%r") + std::to_string(index);
    right += (index ? ", %r" : "%r") + std::to_string(4 + index);
  }
  const auto out = runProduct("mma.sp.sync.aligned.m16n8k" + std::to_string(sparse.depth) + ".row.col." + types +
                                  " {%o0, %o1, %o2, %o3}, {" + left + "}, {" + right +
                                  "}, {%o0, %o1, %o2, %o3}, %r8, " + std::to_string(sparse.selector) + ";",
                              sparse.registers);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      int expected = 0;
      for (unsigned k = 0; k < sparse.depth; ++k)
        expected += sparse.left[row][k] * sparse.right[k][column];
      const uint32_t bits = out[row % 8 * 4 + column / 2][row / 8 * 2 + column % 2];
      EXPECT_EQ(isInteger ? int(bits) : int(std::bit_cast<float>(bits)), expected) << types << ": " << row;
    }
}

TEST(SimProduct, sparseMatrices) {
  const auto half = [](int value) { return uint32_t{std::bit_cast<uint16_t>(_Float16(value))}; };
  const auto single = [](int value) { return std::bit_cast<uint32_t>(float(value)); };
  const auto byte = [](int value) { return uint32_t(uint8_t(value)); };
  for (unsigned selector = 0; selector < 4; ++selector) {
    expectSparse({16, 2, selector, half}, "f32.f16.f16.f32");
    expectSparse({8, 4, selector, single}, "f32.tf32.tf32.f32");
  }
  for (unsigned selector = 0; selector < 2; ++selector) {
    expectSparse({32, 2, selector, half}, "f32.f16.f16.f32");
    expectSparse({16, 4, selector, single}, "f32.tf32.tf32.f32");
    expectSparse({32, 1, selector, byte}, "s32.s8.s8.s32", true);
  }
  expectSparse({64, 1, 0, byte}, "s32.s8.s8.s32", true);
}

TEST(SimProduct, formsThatDoNotExist) {
  const auto message = [](const std::string &instruction) {
    auto module = sim::parse(simKernel("", ".reg .b32 %r<16>; .reg .f32 %f<4>; " + instruction));
    return module ? std::string() : module.error().text;
  };
  EXPECT_NE(message("mma.sync.aligned.m16n8k256.row.col.s32.s4.s4.s32 {%r0, %r1, %r2, %r3}, {%r4}, {%r5}, {%r0, %r1, "
                    "%r2, %r3};")
                .find("not known"),
            std::string::npos);
  EXPECT_NE(message("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, "
                    "{%r4, %r5, %r6, %r7}, {%f0, %f1, %f2, %f3}, %r8, 2;")
                .find("not known"),
            std::string::npos);
}

TEST(SimAtomic, words128) {
  struct alignas(16) Word {
    uint64_t low, high;
    bool operator==(const Word &) const = default;
  };
  Word memory[2] = {{1, 2}, {3, 4}}, old[3] = {};
  const std::string ptx = simKernel(".param .u64 memory, .param .u64 old", R"(
    .reg .b128 %q<4>; .reg .b64 %a, %b, %x, %y;
    ld.param.u64 %a, [memory];
    ld.param.u64 %b, [old];
    mov.b64 %x, 1;
    mov.b64 %y, 2;
    mov.b128 %q0, {%x, %y};
    mov.b64 %x, 7;
    mov.b128 %q1, {%x, %y};
    atom.global.relaxed.gpu.cas.b128 %q2, [%a], %q0, %q1;
    st.global.b128 [%b], %q2;
    atom.global.relaxed.gpu.cas.b128 %q2, [%a], %q0, %q0;
    st.global.b128 [%b+16], %q2;
    atom.global.exch.b128 %q3, [%a+16], %q0;
    st.global.b128 [%b+32], %q3;
    ret;)");
  SimArguments arguments;
  arguments.add(&memory[0]).add(&old[0]);
  auto counters = runSim(ptx, arguments, {}, {.x = 1});
  ASSERT_TRUE(counters) << counters.error().text;
  EXPECT_EQ(memory[0], (Word{7, 2}));
  EXPECT_EQ(memory[1], (Word{1, 2}));
  EXPECT_EQ(old[0], (Word{1, 2}));
  EXPECT_EQ(old[1], (Word{7, 2}));
  EXPECT_EQ(old[2], (Word{3, 4}));
}
