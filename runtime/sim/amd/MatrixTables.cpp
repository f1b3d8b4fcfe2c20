// The matrix instructions of CDNA2 to CDNA4, RDNA3 and RDNA4, and the formats of their elements.
// SPDX-License-Identifier: MIT
//
// After AMD's documents: instruction set architectures of MI200, MI300, CDNA4, RDNA3 (7.9) and RDNA4 (7.12), and the
// tables that the AMD matrix instruction calculator prints.
#include "runtime/sim/amd/Matrix.h"

#include "runtime/sim/machine/Formats.h"

#include <array>

using namespace nereid::sim;

//--- elements ------------------------------------------------------------------------------

namespace {
struct ElementRow {
  std::string_view name;
  uint8_t bits;
  const Format *format; ///< of floats of at most 8 bits
};
/// By AmdElement.
constexpr ElementRow kElements[] = {
    {"f16", 16, nullptr},        {"bf16", 16, nullptr}, {"xf32", 32, nullptr}, {"f32", 32, nullptr},
    {"f64", 64, nullptr},        {"i8", 8, nullptr},    {"u8", 8, nullptr},    {"i4", 4, nullptr},
    {"u4", 4, nullptr},          {"e4m3", 8, &kE4m3},   {"e5m2", 8, &kE5m2},   {"e4m3fnuz", 8, &kE4m3fnuz},
    {"e5m2fnuz", 8, &kE5m2fnuz}, {"e2m3", 6, &kE2m3},   {"e3m2", 6, &kE3m2},   {"e2m1", 4, &kE2m1},
    {"i32", 32, nullptr},
};
static_assert(std::size(kElements) == size_t(AmdElement::I32) + 1);

/// The values of formats of at most 8 bits.
using SmallValues = std::array<std::array<float, 256>, std::size(kElements)>;
const SmallValues &smallValues() {
  static const SmallValues values = [] {
    SmallValues result{};
    for (size_t element = 0; element < std::size(kElements); ++element)
      for (uint32_t bits = 0; kElements[element].format && bits < 1u << kElements[element].bits; ++bits)
        result[element][bits] = float(decode(bits, *kElements[element].format));
    return result;
  }();
  return values;
}

/// The ten highest bits of the fraction stay.
float asXf32(uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000); }
} // namespace

bool nereid::sim::amdElementOf(std::string_view name, AmdElement &element) {
  for (size_t index = 0; index < std::size(kElements); ++index)
    if (kElements[index].name == name)
      return element = AmdElement(index), true;
  return false;
}

unsigned nereid::sim::bitsOf(AmdElement element) { return kElements[size_t(element)].bits; }

double nereid::sim::valueOf(AmdElement element, uint32_t bits) {
  switch (element) {
  case AmdElement::F16:
    return toFloat(Half{uint16_t(bits)});
  case AmdElement::BF16:
    return toFloat(Brain{uint16_t(bits)});
  case AmdElement::XF32:
    return asXf32(bits);
  case AmdElement::F32:
    return std::bit_cast<float>(bits);
  case AmdElement::I8:
    return int8_t(bits);
  case AmdElement::U8:
    return uint8_t(bits);
  case AmdElement::I4:
    return int32_t(bits << 28) >> 28;
  case AmdElement::U4:
    return bits & 15;
  case AmdElement::I32:
    return int32_t(bits);
  case AmdElement::F64:
    return 0; // has 64 bits
  case AmdElement::E4M3:
  case AmdElement::E5M2:
  case AmdElement::E4M3FNUZ:
  case AmdElement::E5M2FNUZ:
  case AmdElement::E2M3:
  case AmdElement::E3M2:
  case AmdElement::E2M1:
    break;
  }
  return smallValues()[size_t(element)][bits & ((1u << bitsOf(element)) - 1)];
}

//--- shapes --------------------------------------------------------------------------------

namespace {
struct ShapeRow {
  std::string_view family;
  std::string_view elements; ///< names of the left elements, each with blanks around it
  MatrixShape shape;
};

//    name, M, N, K, chunk along K, chunk of rows, lanes, replicated
constexpr ShapeRow kShapes[] = {
    {"mfma", " f16 bf16 ", {"m32n32k8", 32, 32, 8, 4, 4, 64, false}},
    {"mfma", " f16 bf16 ", {"m16n16k16", 16, 16, 16, 4, 4, 64, false}},
    {"mfma", " f16 bf16 ", {"m32n32k16", 32, 32, 16, 8, 4, 64, false}},
    {"mfma", " f16 bf16 ", {"m16n16k32", 16, 16, 32, 8, 4, 64, false}},
    {"mfma", " f32 ", {"m32n32k2", 32, 32, 2, 1, 4, 64, false}},
    {"mfma", " f32 ", {"m16n16k4", 16, 16, 4, 1, 4, 64, false}},
    {"mfma", " xf32 ", {"m32n32k4", 32, 32, 4, 2, 4, 64, false}},
    {"mfma", " xf32 ", {"m16n16k8", 16, 16, 8, 2, 4, 64, false}},
    {"mfma", " f64 ", {"m16n16k4", 16, 16, 4, 1, 1, 64, false}},
    {"mfma", " i8 ", {"m32n32k8", 32, 32, 8, 4, 4, 64, false}},
    {"mfma", " i8 ", {"m16n16k16", 16, 16, 16, 4, 4, 64, false}},
    {"mfma", " i8 e4m3 e5m2 e4m3fnuz e5m2fnuz ", {"m32n32k16", 32, 32, 16, 8, 4, 64, false}},
    {"mfma", " i8 e4m3 e5m2 e4m3fnuz e5m2fnuz ", {"m16n16k32", 16, 16, 32, 8, 4, 64, false}},
    {"mfma", " i8 ", {"m32n32k32", 32, 32, 32, 16, 4, 64, false}},
    {"mfma", " i8 ", {"m16n16k64", 16, 16, 64, 16, 4, 64, false}},
    // Elements of 8 bits are two chunks of 16, the others one of 32.
    {"mfma_f8f6f4", " e4m3 e5m2 ", {"m32n32k64", 32, 32, 64, 16, 4, 64, false}},
    {"mfma_f8f6f4", " e4m3 e5m2 ", {"m16n16k128", 16, 16, 128, 16, 4, 64, false}},
    {"mfma_f8f6f4", " e2m3 e3m2 e2m1 ", {"m32n32k64", 32, 32, 64, 32, 4, 64, false}},
    {"mfma_f8f6f4", " e2m3 e3m2 e2m1 ", {"m16n16k128", 16, 16, 128, 32, 4, 64, false}},
    {"gfx11", " f16 bf16 i8 u8 i4 u4 ", {"m16n16k16", 16, 16, 16, 16, 1, 32, true}},
    {"gfx12", " f16 bf16 ", {"m16n16k16", 16, 16, 16, 4, 8, 32, false}},
    {"gfx12", " i8 u8 i4 u4 e4m3 e5m2 ", {"m16n16k16", 16, 16, 16, 8, 8, 32, false}},
    {"gfx12", " i4 u4 ", {"m16n16k32", 16, 16, 32, 16, 8, 32, false}},
};
} // namespace

OperandPlace MatrixShape::operandPlace(unsigned lane, unsigned index) const {
  const unsigned group = isReplicated ? 0 : lane / rows, numGroups = isReplicated ? 1 : groups();
  return {lane % rows, index / chunkAlongK * chunkAlongK * numGroups + group * chunkAlongK + index % chunkAlongK};
}

ResultPlace MatrixShape::resultPlace(unsigned lane, unsigned index) const {
  const unsigned group = lane / columns;
  return {index / chunkOfRows * chunkOfRows * groups() + group * chunkOfRows + index % chunkOfRows, lane % columns};
}

std::optional<uint8_t> nereid::sim::findMatrixShape(std::string_view family, std::string_view name,
                                                    AmdElement element) {
  const std::string word = " " + std::string(kElements[size_t(element)].name) + " ";
  if (family == "mfma_scale")
    family = "mfma_f8f6f4";
  for (const ShapeRow &row : kShapes)
    if (row.family == family && row.shape.name == name && row.elements.find(word) != std::string_view::npos)
      return uint8_t(&row - kShapes);
  return std::nullopt;
}

const MatrixShape &nereid::sim::matrixShape(uint8_t row) { return kShapes[row].shape; }
