// MFMA and WMMA: one instruction of the simulator with the words of all operands.
// SPDX-License-Identifier: MIT
#include "compiler/target/sim/InlineAssembly.h"
#include "compiler/target/sim/Intrinsics.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace nereid;
using namespace nereid::sim;
using namespace llvm;

namespace {
struct MatrixIntrinsic {
  Intrinsic::ID id;
  const char *shape, *result;
  const char *left, *right; ///< fp8 and bf8 stand for the formats of the GPU
};

constexpr MatrixIntrinsic kMfma[] = {
    {Intrinsic::amdgcn_mfma_f32_32x32x8f16, "m32n32k8", "f32", "f16", "f16"},
    {Intrinsic::amdgcn_mfma_f32_16x16x16f16, "m16n16k16", "f32", "f16", "f16"},
    {Intrinsic::amdgcn_mfma_f32_32x32x8bf16_1k, "m32n32k8", "f32", "bf16", "bf16"},
    {Intrinsic::amdgcn_mfma_f32_16x16x16bf16_1k, "m16n16k16", "f32", "bf16", "bf16"},
    {Intrinsic::amdgcn_mfma_f32_32x32x16_f16, "m32n32k16", "f32", "f16", "f16"},
    {Intrinsic::amdgcn_mfma_f32_16x16x32_f16, "m16n16k32", "f32", "f16", "f16"},
    {Intrinsic::amdgcn_mfma_f32_32x32x16_bf16, "m32n32k16", "f32", "bf16", "bf16"},
    {Intrinsic::amdgcn_mfma_f32_16x16x32_bf16, "m16n16k32", "f32", "bf16", "bf16"},
    {Intrinsic::amdgcn_mfma_f32_32x32x2f32, "m32n32k2", "f32", "f32", "f32"},
    {Intrinsic::amdgcn_mfma_f32_16x16x4f32, "m16n16k4", "f32", "f32", "f32"},
    {Intrinsic::amdgcn_mfma_f32_32x32x4_xf32, "m32n32k4", "f32", "xf32", "xf32"},
    {Intrinsic::amdgcn_mfma_f32_16x16x8_xf32, "m16n16k8", "f32", "xf32", "xf32"},
    {Intrinsic::amdgcn_mfma_f64_16x16x4f64, "m16n16k4", "f64", "f64", "f64"},
    {Intrinsic::amdgcn_mfma_i32_32x32x8i8, "m32n32k8", "i32", "i8", "i8"},
    {Intrinsic::amdgcn_mfma_i32_16x16x16i8, "m16n16k16", "i32", "i8", "i8"},
    {Intrinsic::amdgcn_mfma_i32_32x32x16_i8, "m32n32k16", "i32", "i8", "i8"},
    {Intrinsic::amdgcn_mfma_i32_16x16x32_i8, "m16n16k32", "i32", "i8", "i8"},
    {Intrinsic::amdgcn_mfma_i32_32x32x32_i8, "m32n32k32", "i32", "i8", "i8"},
    {Intrinsic::amdgcn_mfma_i32_16x16x64_i8, "m16n16k64", "i32", "i8", "i8"},
    {Intrinsic::amdgcn_mfma_f32_32x32x16_fp8_fp8, "m32n32k16", "f32", "fp8", "fp8"},
    {Intrinsic::amdgcn_mfma_f32_32x32x16_fp8_bf8, "m32n32k16", "f32", "fp8", "bf8"},
    {Intrinsic::amdgcn_mfma_f32_32x32x16_bf8_fp8, "m32n32k16", "f32", "bf8", "fp8"},
    {Intrinsic::amdgcn_mfma_f32_32x32x16_bf8_bf8, "m32n32k16", "f32", "bf8", "bf8"},
    {Intrinsic::amdgcn_mfma_f32_16x16x32_fp8_fp8, "m16n16k32", "f32", "fp8", "fp8"},
    {Intrinsic::amdgcn_mfma_f32_16x16x32_fp8_bf8, "m16n16k32", "f32", "fp8", "bf8"},
    {Intrinsic::amdgcn_mfma_f32_16x16x32_bf8_fp8, "m16n16k32", "f32", "bf8", "fp8"},
    {Intrinsic::amdgcn_mfma_f32_16x16x32_bf8_bf8, "m16n16k32", "f32", "bf8", "bf8"},
};

constexpr MatrixIntrinsic kScaled[] = {
    {Intrinsic::amdgcn_mfma_scale_f32_32x32x64_f8f6f4, "m32n32k64", "f32", "", ""},
    {Intrinsic::amdgcn_mfma_scale_f32_16x16x128_f8f6f4, "m16n16k128", "f32", "", ""},
};

constexpr MatrixIntrinsic kWmma[] = {
    {Intrinsic::amdgcn_wmma_f32_16x16x16_f16, "m16n16k16", "f32", "f16", "f16"},
    {Intrinsic::amdgcn_wmma_f32_16x16x16_bf16, "m16n16k16", "f32", "bf16", "bf16"},
    {Intrinsic::amdgcn_wmma_f16_16x16x16_f16, "m16n16k16", "f16", "f16", "f16"},
    {Intrinsic::amdgcn_wmma_bf16_16x16x16_bf16, "m16n16k16", "bf16", "bf16", "bf16"},
    {Intrinsic::amdgcn_wmma_f32_16x16x16_fp8_fp8, "m16n16k16", "f32", "fp8", "fp8"},
    {Intrinsic::amdgcn_wmma_f32_16x16x16_fp8_bf8, "m16n16k16", "f32", "fp8", "bf8"},
    {Intrinsic::amdgcn_wmma_f32_16x16x16_bf8_fp8, "m16n16k16", "f32", "bf8", "fp8"},
    {Intrinsic::amdgcn_wmma_f32_16x16x16_bf8_bf8, "m16n16k16", "f32", "bf8", "bf8"},
    {Intrinsic::amdgcn_wmma_i32_16x16x16_iu8, "m16n16k16", "i32", "8", "8"},
    {Intrinsic::amdgcn_wmma_i32_16x16x16_iu4, "m16n16k16", "i32", "4", "4"},
    {Intrinsic::amdgcn_wmma_i32_16x16x32_iu4, "m16n16k32", "i32", "4", "4"},
};

const MatrixIntrinsic *rowOf(ArrayRef<MatrixIntrinsic> table, Intrinsic::ID id) {
  for (const MatrixIntrinsic &row : table)
    if (row.id == id)
      return &row;
  return nullptr;
}
} // namespace

/// MI300 has the formats without infinities and negative zero; the later GPUs those of the OCP.
static std::string elementOf(const Site &site, StringRef name) {
  if (name != "fp8" && name != "bf8")
    return name.str();
  return std::string(name == "fp8" ? "e4m3" : "e5m2") + (site.isFnuz() ? "fnuz" : "");
}

static Type *registerType(Site &site, const MatrixIntrinsic &row) {
  return StringRef(row.result) == "f64" ? site.ir.getInt64Ty() : site.ir.getInt32Ty();
}

/// Registers of an operand: words, or the elements of float64.
static Words registersOf(Site &site, const MatrixIntrinsic &row, Value *value) {
  if (StringRef(row.result) != "f64")
    return wordsOf(site.ir, value);
  auto *vector = dyn_cast<FixedVectorType>(value->getType());
  if (!vector)
    return {site.ir.CreateBitCast(value, site.ir.getInt64Ty())};
  Words words;
  for (unsigned index = 0; index < vector->getNumElements(); ++index)
    words.push_back(site.ir.CreateBitCast(site.ir.CreateExtractElement(value, index), site.ir.getInt64Ty()));
  return words;
}

static Value *resultOf(Site &site, const MatrixIntrinsic &row, ArrayRef<Value *> registers) {
  Type *type = site.call.getType();
  if (StringRef(row.result) != "f64")
    return fromWords(site.ir, registers, type);
  Value *result = PoisonValue::get(type);
  for (auto [index, word] : enumerate(registers))
    result = site.ir.CreateInsertElement(result, site.ir.CreateBitCast(word, site.ir.getDoubleTy()), index);
  return result;
}

static InlineAssembly begin(Site &site, const MatrixIntrinsic &row, std::string opcode, Value *left, Value *right,
                            Value *sums) {
  const Words before = registersOf(site, row, sums);
  InlineAssembly call(site.ir, std::move(opcode));
  call.results(registerType(site, row), unsigned(before.size()), /*isList=*/true);
  call.sources(registersOf(site, row, left)).sources(registersOf(site, row, right)).sources(before);
  return call;
}

/// Operands: left, right, accumulators, and the broadcasts of blocks, which single blocks do not have.
static Value *mfma(Site &site, const MatrixIntrinsic &row) {
  const std::string left = elementOf(site, row.left), right = elementOf(site, row.right);
  if (site.number(3) || site.number(4) || site.number(5))
    return nullptr;
  std::string opcode = std::string("amd.mfma.") + row.shape + "." + row.result + "." + left + "." + right;
  if (site.arch.flushesDenormals && (left == "f16" || left == "bf16"))
    opcode += ".ftz";
  return resultOf(site, row,
                  begin(site, row, opcode, site.operand(0), site.operand(1), site.operand(2)).call(Effects::Lanes));
}

/// The registers that hold 32 elements; the operand may have more.
static Value *shortened(Site &site, Value *value, unsigned words) {
  SmallVector<int> first;
  for (unsigned index = 0; index < words; ++index)
    first.push_back(int(index));
  return site.ir.CreateShuffleVector(value, first);
}

/// LLVM's form of the instruction that does not scale.
static bool hasNoScales(Site &site) {
  return llvm::all_of(std::initializer_list<unsigned>{5, 6, 7, 8}, [&](unsigned index) {
    auto *constant = dyn_cast<ConstantInt>(site.operand(index));
    return constant && constant->isZero();
  });
}

/// Operands: left, right, accumulators, the two formats, then a byte and a register of scales for each.
static Value *scaledMfma(Site &site, const MatrixIntrinsic &row) {
  static constexpr struct {
    const char *name;
    unsigned words;
  } formats[] = {{"e4m3", 8}, {"e5m2", 8}, {"e2m3", 6}, {"e3m2", 6}, {"e2m1", 4}};
  const uint64_t left = site.number(3), right = site.number(4);
  if (left >= std::size(formats) || right >= std::size(formats))
    return nullptr;
  const bool isScaled = !hasNoScales(site);
  const std::string opcode = std::string(isScaled ? "amd.mfma_scale." : "amd.mfma_f8f6f4.") + row.shape + ".f32." +
                             formats[left].name + "." + formats[right].name;
  InlineAssembly call = begin(site, row, opcode, shortened(site, site.operand(0), formats[left].words),
                              shortened(site, site.operand(1), formats[right].words), site.operand(2));
  if (isScaled)
    call.immediate(site.number(5)).source(site.operand(6)).immediate(site.number(7)).source(site.operand(8));
  return resultOf(site, row, call.call(Effects::Lanes));
}

/// Integers: sign, left, sign, right, accumulators, clamp. Floats: left, right, accumulators; for results of 16 bits on
/// RDNA3 also which half of a register has them.
static Value *wmma(Site &site, const MatrixIntrinsic &row) {
  const bool isInteger = StringRef(row.result) == "i32";
  const unsigned left = isInteger ? 1 : 0, right = isInteger ? 3 : 1, sums = isInteger ? 4 : 2;
  const auto element = [&](const char *name, unsigned sign) {
    return isInteger ? std::string(site.number(sign) ? "i" : "u") + name : elementOf(site, name);
  };
  std::string opcode = std::string("amd.wmma.") + row.shape + "." + row.result + "." + element(row.left, 0) + "." +
                       element(row.right, 2) +
                       (site.arch.matrixUnit == artifact::MatrixUnit::Wmma ? ".gfx12" : ".gfx11");
  if (isInteger && site.number(5))
    opcode += ".clamp";
  if (!isInteger && site.call.arg_size() > 3 && site.number(3))
    opcode += ".high";
  return resultOf(
      site, row,
      begin(site, row, opcode, site.operand(left), site.operand(right), site.operand(sums)).call(Effects::Lanes));
}

Value *sim::replaceMatrix(Site &site) {
  const Intrinsic::ID id = site.call.getIntrinsicID();
  if (const MatrixIntrinsic *row = rowOf(kMfma, id))
    return mfma(site, *row);
  if (const MatrixIntrinsic *row = rowOf(kScaled, id))
    return scaledMfma(site, *row);
  if (const MatrixIntrinsic *row = rowOf(kWmma, id))
    return wmma(site, *row);
  return nullptr;
}
