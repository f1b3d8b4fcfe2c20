// Simulates wgmma on this machine; reads matrices by descriptor, address by address.
// SPDX-License-Identifier: MIT
//
// Each thread computes its accumulators when a dot is issued and again when it is waited for. The code follows PTX
// ISA's tables (matrix descriptor, canonical layouts, fragments of wgmma) and not our layouts, so that it checks them.
#include "compiler/target/nvidia/lowering/Wgmma.h"
#include "test/unit/lowering/Fibers.h"
#include "test/unit/lowering/HostEmitter.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

using namespace nereid;
using namespace nereid::simt;
using nvidia::WgmmaDot;
using nvidia::WgmmaElement;
using nvidia::WgmmaInstruction;

//--- simulated tensor core -----------------------------------------------------------------

namespace {
/// A matrix by its descriptor: element `major` along M or N, element k along K.
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
static double valueOf(WgmmaElement element, uint32_t bits) {
  switch (element) {
  case WgmmaElement::F16:
    return valuesOf(llvm::APFloat::IEEEhalf(), 16)[bits & 0xffff];
  case WgmmaElement::BF16:
    return llvm::bit_cast<float>(bits << 16);
  case WgmmaElement::TF32:
    return llvm::bit_cast<float>(bits & 0xffffe000);
  case WgmmaElement::E4M3:
    return valuesOf(llvm::APFloat::Float8E4M3FN(), 8)[bits & 0xff];
  case WgmmaElement::E5M2:
    return valuesOf(llvm::APFloat::Float8E5M2(), 8)[bits & 0xff];
  case WgmmaElement::Int8:
    return static_cast<int8_t>(bits);
  }
  return 0;
}

static uint32_t elementAt(const char *memory, uint32_t address, unsigned bytes) {
  uint32_t bits = 0;
  std::memcpy(&bits, memory + address, bytes);
  return bits;
}

/// This lane's row of a left matrix in registers: word w of lane 4 r + c has columns of c, w / 2 * 4 + c.
static std::vector<double> rowInWords(WgmmaElement element, const uint32_t *words, unsigned half) {
  const unsigned perWord = 4 * 8 / nvidia::bitsOf(element), depth = 8 * perWord;
  const unsigned group = Block::current().thread() % 32 / 4;
  std::vector<double> row(depth);
  for (unsigned word = 0; word < 4; ++word) {
    const std::vector<uint32_t> all = Block::current().exchange(words[word]);
    if (word % 2 != half)
      continue;
    for (unsigned lane = 0; lane < 4; ++lane)
      for (unsigned next = 0; next < perWord; ++next)
        row[(word / 2 * 4 + lane) * perWord + next] =
            valueOf(element, all[group * 4 + lane] >> next * nvidia::bitsOf(element));
  }
  return row;
}

namespace {
/// Parameters that are equal for all steps of a dot.
struct Unit {
  uint32_t leftElement, rightElement, columns, isLeftMMajor, isRightNMajor;
};
} // namespace

namespace {
/// One instruction of a dot, with its register operands.
struct Step {
  Unit unit;
  const char *memory;
  std::optional<std::array<uint32_t, 4>> words; ///< none: the left matrix is in shared memory
  uint64_t left, right;
  uint32_t firstAccumulator, useAccumulators;

  bool isInteger() const { return WgmmaElement(unit.leftElement) == WgmmaElement::Int8; }
  std::vector<double> results() const;
};

/// Instructions that are committed together. The tensor core may read memory from issue until the wait: the simulation
/// reads at both times, and a change in between gives an invalid number.
struct Group {
  std::vector<uint32_t> accumulators; ///< numbers, or tags of results of earlier groups
  std::vector<Step> steps;
  std::vector<std::vector<double>> early;
  bool isDone = false;
};

struct ThreadUnit {
  std::vector<Group> groups;
  void finish(Group &group);
  /// The number that a tag stands for once its group is done; numbers are returned unchanged.
  uint32_t resolve(uint32_t bits) const;
};
} // namespace

/// The step's contribution to the thread's accumulators.
std::vector<double> Step::results() const {
  const auto leftElement = WgmmaElement(unit.leftElement), rightElement = WgmmaElement(unit.rightElement);
  const unsigned bytes = nvidia::bitsOf(leftElement) / 8, depth = 32 / bytes;
  const unsigned thread = Block::current().thread() % 128, warp = thread / 32, lane = thread % 32;
  const Descriptor a = {left, !unit.isLeftMMajor, bytes}, b = {right, !unit.isRightNMajor, bytes};
  std::vector<double> totals(unit.columns / 2);
  for (unsigned half : {0, 1}) {
    std::vector<double> row(depth);
    if (words)
      row = rowInWords(leftElement, words->data(), half);
    else
      for (unsigned k = 0; k < depth; ++k)
        row[k] = valueOf(leftElement, elementAt(memory, a.address(warp * 16 + lane / 4 + half * 8, k), bytes));
    for (unsigned box = 0; box < unit.columns / 8; ++box)
      for (unsigned next : {0, 1})
        for (unsigned k = 0; k < depth; ++k)
          totals[box * 4 + half * 2 + next] +=
              row[k] * valueOf(rightElement, elementAt(memory, b.address(box * 8 + lane % 4 * 2 + next, k), bytes));
  }
  return totals;
}

/// Pending accumulators are NaNs that encode which they are: threads may copy them, but not compute with them.
static constexpr uint32_t nameTag = 0x7fa00000, nameMask = 0xffe00000, noNumber = 0x7fffffff;
static constexpr unsigned indexBits = 9;

uint32_t ThreadUnit::resolve(uint32_t bits) const {
  const uint32_t group = (bits & ~nameMask) >> indexBits, index = bits & ((1u << indexBits) - 1);
  const bool isName =
      (bits & nameMask) == nameTag && group < groups.size() && index < groups[group].accumulators.size();
  return isName && groups[group].isDone ? groups[group].accumulators[index] : bits;
}

void ThreadUnit::finish(Group &group) {
  for (uint32_t &accumulator : group.accumulators)
    accumulator = resolve(accumulator);
  for (size_t index = 0; index < group.steps.size(); ++index) {
    const Step &step = group.steps[index];
    const std::vector<double> results = step.results();
    for (auto [offset, result] : llvm::enumerate(results)) {
      uint32_t &accumulator = group.accumulators[step.firstAccumulator + offset];
      const double before =
          step.isInteger() ? double(int32_t(accumulator)) : double(llvm::bit_cast<float>(accumulator));
      const double total = (step.useAccumulators ? before : 0) + result;
      accumulator = step.isInteger() ? uint32_t(int64_t(total)) : llvm::bit_cast<uint32_t>(float(total));
      if (result != group.early[index][offset])
        accumulator = noNumber;
    }
  }
  group.isDone = true;
}

static ThreadUnit &threadUnit() {
  std::shared_ptr<void> &state = Block::current().threadState();
  if (!state)
    state = std::make_shared<ThreadUnit>();
  return *static_cast<ThreadUnit *>(state.get());
}

static void beginGroup(const uint32_t *accumulators, uint32_t count) {
  Group &group = threadUnit().groups.emplace_back();
  group.accumulators.assign(accumulators, accumulators + count);
}

/// `words` null: the left matrix is in shared memory.
static void issueStep(const Unit *unit, const char *memory, const uint32_t *words, uint64_t left, uint64_t right,
                      uint32_t firstAccumulator, uint32_t useAccumulators) {
  Step step = {*unit, memory, std::nullopt, left, right, firstAccumulator, useAccumulators};
  if (words)
    step.words = {words[0], words[1], words[2], words[3]};
  Group &group = threadUnit().groups.back();
  group.early.push_back(step.results());
  group.steps.push_back(std::move(step));
}

static void waitForAllBut(uint32_t pendings) {
  std::vector<Group> &groups = threadUnit().groups;
  for (size_t index = 0; index + pendings < groups.size(); ++index)
    if (!groups[index].isDone)
      threadUnit().finish(groups[index]);
}

/// Returns the accumulators of the last group, or their tags.
static void readAccumulators(uint32_t *accumulators) {
  const ThreadUnit &unit = threadUnit();
  const uint32_t last = unit.groups.size() - 1;
  for (uint32_t index = 0; index < unit.groups.back().accumulators.size(); ++index)
    accumulators[index] = unit.resolve(nameTag | last << indexBits | index);
}

static uint32_t sumOf(uint32_t bits) { return threadUnit().resolve(bits); }

llvm::ArrayRef<HostFunction> simt::wgmmaFunctions() {
  static const HostFunction functions[] = {
      {"simt_begin_group", reinterpret_cast<void *>(&beginGroup)},
      {"simt_issue_step", reinterpret_cast<void *>(&issueStep)},
      {"simt_wait_for_groups", reinterpret_cast<void *>(&waitForAllBut)},
      {"simt_read_accumulators", reinterpret_cast<void *>(&readAccumulators)},
      {"simt_sum", reinterpret_cast<void *>(&sumOf)},
  };
  return functions;
}

//--- calls ---------------------------------------------------------------------------------

/// Stack memory for `count` words.
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

/// Calls that synchronise with other lanes, or whose order matters.
static llvm::Value *callUnit(lowering::IrBuilder &ir, const char *name, llvm::Type *result,
                             llvm::ArrayRef<llvm::Value *> arguments) {
  auto types = llvm::map_to_vector(arguments, [](llvm::Value *value) { return value->getType(); });
  auto *type = llvm::FunctionType::get(result, types, false);
  llvm::CallInst *call = ir.CreateCall(ir.GetInsertBlock()->getModule()->getOrInsertFunction(name, type), arguments);
  call->addFnAttr(llvm::Attribute::Convergent);
  call->addFnAttr(llvm::Attribute::NoDuplicate);
  return call;
}

llvm::SmallVector<llvm::Value *> HostEmitter::emitWgmma(IrBuilder &ir, const WgmmaDot &dot) {
  llvm::Type *word = ir.getInt32Ty(), *nothing = ir.getVoidTy();
  llvm::Value *accumulators = wordsOf(ir, dot.numAccumulators), *words = wordsOf(ir, dot.leftWords.size());
  llvm::Value *unit = wordsOf(ir, 5);
  store(ir,
        {ir.getInt32(uint32_t(dot.leftElement)), ir.getInt32(uint32_t(dot.rightElement)), ir.getInt32(dot.columns),
         ir.getInt32(dot.isLeftMMajor), ir.getInt32(dot.isRightNMajor)},
        unit);
  store(ir, dot.accumulators, accumulators);
  store(ir, dot.leftWords, words);
  llvm::Value *memory = ir.CreateAddrSpaceCast(sharedMemory(ir), ir.getPtrTy());
  llvm::Value *addsFirst = dot.accumulators.empty() ? ir.getInt32(0)
                           : dot.useAccumulators    ? ir.CreateZExt(dot.useAccumulators, word)
                                                    : ir.getInt32(1);
  callUnit(ir, "simt_begin_group", nothing, {accumulators, ir.getInt32(dot.numAccumulators)});
  for (const WgmmaInstruction &step : dot.steps) {
    llvm::Value *left = dot.leftDescriptor ? ir.CreateAdd(dot.leftDescriptor, ir.getInt64(step.left)) : ir.getInt64(0);
    llvm::Value *own = dot.leftDescriptor ? llvm::ConstantPointerNull::get(ir.getPtrTy())
                                          : ir.CreateConstGEP1_32(word, words, step.left);
    callUnit(ir, "simt_issue_step", nothing,
             {unit, memory, own, left, ir.CreateAdd(dot.rightDescriptor, ir.getInt64(step.right)),
              ir.getInt32(step.firstAccumulator), step.isFirst ? addsFirst : ir.getInt32(1)});
  }
  if (dot.waits)
    callUnit(ir, "simt_wait_for_groups", nothing, {ir.getInt32(0)});
  callUnit(ir, "simt_read_accumulators", nothing, {accumulators});
  llvm::Type *accumulatorType = dot.leftElement == WgmmaElement::Int8 ? word : ir.getFloatTy();
  llvm::SmallVector<llvm::Value *> results;
  for (unsigned index = 0; index < dot.numAccumulators; ++index)
    results.push_back(ir.CreateLoad(accumulatorType, ir.CreateConstGEP1_32(word, accumulators, index)));
  return results;
}

llvm::SmallVector<llvm::Value *> HostEmitter::waitForWgmma(IrBuilder &ir, unsigned pendings,
                                                           llvm::ArrayRef<llvm::Value *> accumulators) {
  callUnit(ir, "simt_wait_for_groups", ir.getVoidTy(), {ir.getInt32(pendings)});
  llvm::SmallVector<llvm::Value *> results;
  for (llvm::Value *sum : accumulators) {
    llvm::Value *bits = ir.CreateBitCast(sum, ir.getInt32Ty());
    results.push_back(ir.CreateBitCast(callUnit(ir, "simt_sum", ir.getInt32Ty(), {bits}), sum->getType()));
  }
  return results;
}

llvm::Value *HostEmitter::sharedAddress(IrBuilder &ir, llvm::Value *pointer) {
  llvm::Value *begin = ir.CreatePtrToInt(sharedMemory(ir), ir.getInt64Ty());
  return ir.CreateTrunc(ir.CreateSub(ir.CreatePtrToInt(pointer, ir.getInt64Ty()), begin), ir.getInt32Ty());
}
