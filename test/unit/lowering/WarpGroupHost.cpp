// The matrix unit of four warps on this machine: reads its matrices by descriptor, address by address.
// SPDX-License-Identifier: MIT
//
// Each thread computes the sums that it holds. Written from PTX ISA's tables (matrix descriptor, canonical layouts,
// fragments of wgmma), not from our layouts, so that it checks them.
#include "compiler/lowering/WarpGroup.h"
#include "test/unit/lowering/Fibers.h"
#include "test/unit/lowering/HostEmitter.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::simt;
using lowering::GroupElement;
using lowering::GroupProduct;
using lowering::GroupStep;

//--- the unit ------------------------------------------------------------------------------

namespace {
/// A matrix by its descriptor: element `major` of the dimension that is M or N, element k of the depth.
struct Descriptor {
  uint64_t bits;
  bool isKMajor;
  unsigned elemBytes;

  uint32_t field(unsigned shift) const { return (bits >> shift & 0x3fff) * 16; }
  unsigned swizzle() const {
    constexpr unsigned widths[] = {0, 128, 64, 32};
    return widths[bits >> 62];
  }
  uint32_t address(unsigned major, unsigned k) const {
    const uint32_t start = field(0), leading = field(16), stride = field(32);
    const unsigned chunk = 16 / elemBytes, width = swizzle(), perRow = width / elemBytes;
    uint32_t plain = start;
    if (isKMajor && !width)
      plain += major % 8 * 16 + major / 8 * stride + k / chunk * leading + k % chunk * elemBytes;
    else if (isKMajor)
      plain += major % 8 * width + major / 8 * stride + k * elemBytes;
    else if (!width)
      plain += major % chunk * elemBytes + major / chunk * stride + k % 8 * 16 + k / 8 * leading;
    else
      plain += major % perRow * elemBytes + major / perRow * leading + k % 8 * width + k / 8 * stride;
    return width ? plain ^ ((plain >> 7) % (width / 16) * 16) : plain;
  }
};
} // namespace

static float fromBits(const llvm::fltSemantics &format, unsigned width, uint64_t bits) {
  llvm::APFloat value(format, llvm::APInt(width, bits));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToFloat();
}

/// Every value of a narrow format.
static const std::vector<float> &valuesOf(const llvm::fltSemantics &format, unsigned width) {
  static std::map<const llvm::fltSemantics *, std::vector<float>> known;
  std::vector<float> &values = known[&format];
  if (values.empty())
    for (uint64_t bits = 0; bits < uint64_t{1} << width; ++bits)
      values.push_back(fromBits(format, width, bits));
  return values;
}

/// The low bits of `bits` as an element.
static double valueOf(GroupElement element, uint32_t bits) {
  switch (element) {
  case GroupElement::F16:
    return valuesOf(llvm::APFloat::IEEEhalf(), 16)[bits & 0xffff];
  case GroupElement::BF16:
    return llvm::bit_cast<float>(bits << 16);
  case GroupElement::TF32:
    return llvm::bit_cast<float>(bits & 0xffffe000);
  case GroupElement::E4M3:
    return valuesOf(llvm::APFloat::Float8E4M3FN(), 8)[bits & 0xff];
  case GroupElement::E5M2:
    return valuesOf(llvm::APFloat::Float8E5M2(), 8)[bits & 0xff];
  case GroupElement::Int8:
    return static_cast<int8_t>(bits);
  }
  return 0;
}

static uint32_t elementAt(const char *memory, uint32_t address, unsigned bytes) {
  uint32_t bits = 0;
  std::memcpy(&bits, memory + address, bytes);
  return bits;
}

/// The left matrix's row of this lane, where threads hold it: word w of lane 4 r + c has columns of c, w / 2 * 4 + c.
static std::vector<double> rowInWords(GroupElement element, const uint32_t *words, unsigned half) {
  const unsigned perWord = 4 * 8 / lowering::bitsOf(element), depth = 8 * perWord;
  const unsigned group = Block::current().thread() % 32 / 4;
  std::vector<double> row(depth);
  for (unsigned word = 0; word < 4; ++word) {
    const std::vector<uint32_t> all = Block::current().exchange(words[word]);
    if (word % 2 != half)
      continue;
    for (unsigned lane = 0; lane < 4; ++lane)
      for (unsigned next = 0; next < perWord; ++next)
        row[(word / 2 * 4 + lane) * perWord + next] =
            valueOf(element, all[group * 4 + lane] >> next * lowering::bitsOf(element));
  }
  return row;
}

namespace {
/// What does not change between the steps of a product.
struct Unit {
  uint32_t leftElement, rightElement, columns, leftAlongRows, rightAlongColumns;
};
} // namespace

/// A number for all that one instruction reads for a thread's sums.
static uint64_t hashOfRead(const Unit &unit, const char *memory, bool readsLeft, uint64_t left, uint64_t right) {
  const unsigned bytes = lowering::bitsOf(GroupElement(unit.leftElement)) / 8, depth = 32 / bytes;
  const unsigned thread = Block::current().thread() % 128, warp = thread / 32, lane = thread % 32;
  const Descriptor a = {left, !unit.leftAlongRows, bytes}, b = {right, !unit.rightAlongColumns, bytes};
  uint64_t hash = 0;
  auto read = [&](const Descriptor &matrix, unsigned major) {
    for (unsigned k = 0; k < depth; ++k)
      hash = hash * 6364136223846793005u + elementAt(memory, matrix.address(major, k), bytes) + 1;
  };
  for (unsigned half : {0, 1})
    if (readsLeft)
      read(a, warp * 16 + lane / 4 + half * 8);
  for (unsigned box = 0; box < unit.columns / 8; ++box)
    for (unsigned next : {0, 1})
      read(b, box * 8 + lane % 4 * 2 + next);
  return hash;
}

/// One instruction: a thread's sums of its two rows. `words` null: the left matrix is in memory.
static void multiplyStep(const Unit *unit, const char *memory, uint32_t *sums, const uint32_t *words, uint64_t left,
                         uint64_t right, uint32_t adds) {
  const auto leftElement = GroupElement(unit->leftElement), rightElement = GroupElement(unit->rightElement);
  const unsigned bytes = lowering::bitsOf(leftElement) / 8, depth = 32 / bytes;
  const unsigned thread = Block::current().thread() % 128, warp = thread / 32, lane = thread % 32;
  const Descriptor a = {left, !unit->leftAlongRows, bytes}, b = {right, !unit->rightAlongColumns, bytes};
  for (unsigned half : {0, 1}) {
    std::vector<double> row(depth);
    if (words)
      row = rowInWords(leftElement, words, half);
    else
      for (unsigned k = 0; k < depth; ++k)
        row[k] = valueOf(leftElement, elementAt(memory, a.address(warp * 16 + lane / 4 + half * 8, k), bytes));
    for (unsigned box = 0; box < unit->columns / 8; ++box)
      for (unsigned next : {0, 1}) {
        uint32_t &sum = sums[box * 4 + half * 2 + next];
        const bool isInteger = leftElement == GroupElement::Int8;
        double total = !adds ? 0 : isInteger ? double(int32_t(sum)) : double(llvm::bit_cast<float>(sum));
        for (unsigned k = 0; k < depth; ++k)
          total += row[k] * valueOf(rightElement,
                                    elementAt(memory, b.address(box * 8 + lane % 4 * 2 + next, k), bytes));
        sum = isInteger ? uint32_t(int64_t(total)) : llvm::bit_cast<uint32_t>(float(total));
      }
  }
  const Unit itself = *unit;
  const uint64_t hash = hashOfRead(itself, memory, !words, left, right);
  Block::current().watch([=] { return hashOfRead(itself, memory, !words, left, right) == hash; });
}

/// The unit may read until the wait: by then nothing may have changed.
static void endProducts(uint32_t numPending) {
  EXPECT_TRUE(Block::current().endWatched(numPending)) << "a matrix changed while a product was reading it";
}

static void commitProduct(uint32_t waits) {
  Block::current().commitWatched();
  if (waits)
    endProducts(0);
}

llvm::ArrayRef<HostFunction> simt::warpGroupFunctions() {
  static const HostFunction functions[] = {{"simt_multiply_step", reinterpret_cast<void *>(&multiplyStep)},
                                           {"simt_commit_product", reinterpret_cast<void *>(&commitProduct)},
                                           {"simt_end_products", reinterpret_cast<void *>(&endProducts)}};
  return functions;
}

//--- what calls it -------------------------------------------------------------------------

/// Memory of the function for `count` words.
static llvm::Value *wordsOf(lowering::IrBuilder &ir, unsigned count) {
  llvm::BasicBlock &entry = ir.GetInsertBlock()->getParent()->getEntryBlock();
  lowering::IrBuilder begin(&entry, entry.begin());
  return begin.CreateAlloca(ir.getInt32Ty(), begin.getInt32(std::max(count, 1u)));
}

static void store(lowering::IrBuilder &ir, llvm::ArrayRef<llvm::Value *> values, llvm::Value *memory) {
  for (auto [index, value] : llvm::enumerate(values))
    ir.CreateStore(ir.CreateBitCast(value, ir.getInt32Ty()), ir.CreateConstGEP1_32(ir.getInt32Ty(), memory, index));
}

static llvm::GlobalVariable *sharedMemory(lowering::IrBuilder &ir) {
  return ir.GetInsertBlock()->getModule()->getGlobalVariable("nereid_shared");
}

llvm::SmallVector<llvm::Value *> HostEmitter::multiplyByGroups(IrBuilder &ir, const GroupProduct &product) {
  llvm::Type *word = ir.getInt32Ty(), *pointer = ir.getPtrTy();
  llvm::Value *sums = wordsOf(ir, product.numSums), *words = wordsOf(ir, product.leftWords.size());
  llvm::Value *unit = wordsOf(ir, 5);
  store(ir, {ir.getInt32(uint32_t(product.leftElement)), ir.getInt32(uint32_t(product.rightElement)),
             ir.getInt32(product.columns), ir.getInt32(product.leftAlongRows), ir.getInt32(product.rightAlongColumns)},
        unit);
  store(ir, product.sums, sums);
  store(ir, product.leftWords, words);
  auto *type = llvm::FunctionType::get(
      ir.getVoidTy(), {pointer, pointer, pointer, pointer, ir.getInt64Ty(), ir.getInt64Ty(), word}, false);
  llvm::Module *module = ir.GetInsertBlock()->getModule();
  llvm::Value *memory = ir.CreateAddrSpaceCast(sharedMemory(ir), pointer);
  llvm::Value *nothing = llvm::ConstantPointerNull::get(llvm::cast<llvm::PointerType>(pointer));
  llvm::Value *addsFirst = product.sums.empty() ? ir.getInt32(0)
                           : product.adds       ? ir.CreateZExt(product.adds, word)
                                                : ir.getInt32(1);
  for (const GroupStep &step : product.steps) {
    llvm::Value *left = product.leftMatrix ? ir.CreateAdd(product.leftMatrix, ir.getInt64(step.left)) : ir.getInt64(0);
    llvm::Value *own = product.leftMatrix ? nothing : ir.CreateConstGEP1_32(word, words, step.left);
    llvm::CallInst *made = ir.CreateCall(module->getOrInsertFunction("simt_multiply_step", type),
                                         {unit, memory, ir.CreateConstGEP1_32(word, sums, step.firstSum), own, left,
                                          ir.CreateAdd(product.rightMatrix, ir.getInt64(step.right)),
                                          step.begins ? addsFirst : ir.getInt32(1)});
    made->addFnAttr(llvm::Attribute::Convergent);
  }
  call(ir, "simt_commit_product", {ir.getInt32(product.waits)}, /*hasResult=*/false);
  llvm::Type *sumType = product.leftElement == GroupElement::Int8 ? word : ir.getFloatTy();
  llvm::SmallVector<llvm::Value *> results;
  for (unsigned index = 0; index < product.numSums; ++index)
    results.push_back(ir.CreateLoad(sumType, ir.CreateConstGEP1_32(word, sums, index)));
  return results;
}

llvm::SmallVector<llvm::Value *> HostEmitter::waitForGroups(IrBuilder &ir, unsigned pendings,
                                                          llvm::ArrayRef<llvm::Value *> sums) {
  call(ir, "simt_end_products", {ir.getInt32(pendings)}, /*hasResult=*/false);
  return llvm::SmallVector<llvm::Value *>(sums);
}

llvm::Value *HostEmitter::sharedAddress(IrBuilder &ir, llvm::Value *pointer) {
  llvm::Value *begin = ir.CreatePtrToInt(sharedMemory(ir), ir.getInt64Ty());
  return ir.CreateTrunc(ir.CreateSub(ir.CreatePtrToInt(pointer, ir.getInt64Ty()), begin), ir.getInt32Ty());
}
