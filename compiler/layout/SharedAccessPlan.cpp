// Plans accesses to buffers with a layout of their own.
// SPDX-License-Identifier: MIT
#include "compiler/layout/SharedAccessPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace nereid;
using namespace nereid::layout;

using Bases = llvm::SmallVector<uint32_t, 8>;

static constexpr unsigned kRowBytes = 16, kWordBytes = 4, kLdmatrixRows = 8, kMaxMatrixBits = 2;

static Bases basesOf(const LinearLayout &offsets, llvm::StringRef in) {
  Bases bases;
  for (unsigned bit = 0; bit < offsets.inBits(in); ++bit)
    bases.push_back(offsets.basis(in, bit, kOffset));
  return bases;
}

//--- vector accesses -----------------------------------------------------------------------

/// The register bits that index adjacent elements, from the lowest on, as far as every thread's vectors are aligned. If
/// the order is kept they are the lowest bits.
static llvm::SmallVector<unsigned, 4> contiguousRegisterBits(const Bases &registers, const SharedAccessPattern &pattern,
                                                             unsigned maxElems, RegisterOrder order) {
  llvm::SmallVector<unsigned, 4> bits;
  while ((2u << bits.size()) <= maxElems) {
    const unsigned bit = llvm::find(registers, 1u << bits.size()) - registers.begin();
    if (bit == registers.size() || (order == RegisterOrder::Kept && bit != bits.size()))
      break;
    bits.push_back(bit);
  }
  auto areOthersAligned = [&] {
    auto isAligned = [&](uint32_t basis) { return (basis & ((1u << bits.size()) - 1)) == 0; };
    for (auto [bit, basis] : llvm::enumerate(registers))
      if (!llvm::is_contained(bits, bit) && !isAligned(basis))
        return false;
    return llvm::all_of(pattern.laneBases, isAligned) && llvm::all_of(pattern.warpBases, isAligned);
  };
  while (!bits.empty() && !areOthersAligned())
    bits.pop_back();
  return bits;
}

/// Deposits `value`'s bits at `positions`.
static uint32_t deposit(uint32_t value, llvm::ArrayRef<unsigned> positions) {
  uint32_t number = 0;
  for (auto [bit, position] : llvm::enumerate(positions))
    number |= (value >> bit & 1) << position;
  return number;
}

SharedAccessPattern layout::planSharedAccesses(const LinearLayout &registers, const LinearLayout &buffer,
                                               unsigned elemBytes, unsigned maxElems, RegisterOrder order) {
  SharedAccessPattern pattern;
  pattern.offsets = registers.invertAndCompose(buffer);
  llvm::append_range(pattern.laneBases, basesOf(pattern.offsets, kLane));
  llvm::append_range(pattern.warpBases, basesOf(pattern.offsets, kWarp));
  pattern.idleLanes = registers.freeVariableMask(kLane);
  pattern.idleWarps = registers.freeVariableMask(kWarp);
  const llvm::SmallVector<unsigned, 4> together =
      contiguousRegisterBits(basesOf(pattern.offsets, kRegister), pattern, maxElems, order);
  pattern.vectorElems = 1u << together.size();
  const uint32_t copies = registers.freeVariableMask(kRegister), others = deposit(pattern.vectorElems - 1, together);
  for (uint32_t first = 0; first < uint32_t(pattern.offsets.inSize(kRegister)); ++first) {
    if (first & (copies | others))
      continue;
    SharedAccess &access = pattern.accesses.emplace_back();
    access.offset = pattern.offsets.apply({{kRegister, int32_t(first)}}).front();
    for (unsigned next = 0; next < pattern.vectorElems; ++next)
      access.registers.push_back(first | deposit(next, together));
  }
  setWavefronts(pattern, elemBytes);
  return pattern;
}

//--- matrices ------------------------------------------------------------------------------

namespace {
/// The register bits that index elements of a word, and the offsets of row bits.
struct MatrixMapping {
  llvm::SmallVector<unsigned, 2> wordBits; ///< of the register index
  Bases rowBases;                          ///< the offsets of a row's bits
  MatrixForm form = MatrixForm::Rows;
};
} // namespace

/// Whether all bases but those of `exempt` (register bits, lane bits) move whole rows only.
static bool othersMoveRows(const Bases &registers, const Bases &lanes, const Bases &warps,
                           llvm::ArrayRef<unsigned> exemptRegisters, llvm::ArrayRef<unsigned> exemptLanes,
                           uint32_t rowElems) {
  auto stays = [&](uint32_t basis) { return (basis & (rowElems - 1)) == 0; };
  for (auto [bit, basis] : llvm::enumerate(registers))
    if (!llvm::is_contained(exemptRegisters, bit) && !stays(basis))
      return false;
  for (auto [bit, basis] : llvm::enumerate(lanes))
    if (!llvm::is_contained(exemptLanes, bit) && !stays(basis))
      return false;
  return llvm::all_of(warps, stays);
}

/// Rows as the lanes hold them: a word's elements and the words of four lanes are adjacent.
static std::optional<MatrixMapping> plainMapping(const Bases &registers, const Bases &lanes, const Bases &warps,
                                                 unsigned elemBytes) {
  MatrixMapping shape;
  const uint32_t perWord = kWordBytes / elemBytes;
  for (uint32_t step = 1; step < perWord; step *= 2) {
    auto found = llvm::find(registers, step);
    if (found == registers.end())
      return std::nullopt;
    shape.wordBits.push_back(found - registers.begin());
  }
  if (lanes[0] != perWord || lanes[1] != 2 * perWord ||
      !othersMoveRows(registers, lanes, warps, shape.wordBits, {0, 1}, kRowBytes / elemBytes))
    return std::nullopt;
  shape.rowBases.append(lanes.begin() + 2, lanes.end());
  return shape;
}

/// Eight adjacent lanes along a row; a word's two elements and four lanes are in separate rows.
static std::optional<MatrixMapping> transposedMapping(const Bases &registers, const Bases &lanes, const Bases &warps,
                                                      unsigned elemBytes) {
  if (elemBytes != 2 || registers.empty() || lanes[2] != 1 || lanes[3] != 2 || lanes[4] != 4 ||
      !othersMoveRows(registers, lanes, warps, {}, {2, 3, 4}, kLdmatrixRows))
    return std::nullopt;
  MatrixMapping shape;
  shape.wordBits = {0};
  shape.rowBases = {registers[0], lanes[0], lanes[1]};
  shape.form = MatrixForm::Transposed;
  return shape;
}

/// The sum of the entries of `bits` in `selection`.
static uint32_t spread(llvm::ArrayRef<unsigned> bits, uint32_t selection) {
  uint32_t number = 0;
  for (auto [index, bit] : llvm::enumerate(bits))
    if (selection >> index & 1)
      number |= 1u << bit;
  return number;
}

/// The offsets of the lanes' rows as a layout.
static LinearLayout rowOffsets(const SharedAccessPattern &rows, int32_t size) {
  LinearLayout::Input inputs[] = {{kRegister.str(), {}}, {kLane.str(), {}}, {kWarp.str(), {}}, {kBlock.str(), {}}};
  for (uint32_t basis : rows.laneBases)
    inputs[1].bases.push_back({int32_t(basis)});
  for (uint32_t basis : rows.warpBases)
    inputs[2].bases.push_back({int32_t(basis)});
  return LinearLayout::fromBases(inputs, {{kOffset.str(), size}});
}

static void makeInstructions(SharedAccessPattern &rows, unsigned matrixBits, const LinearLayout &offsets,
                             llvm::ArrayRef<unsigned> wordBits, llvm::ArrayRef<unsigned> otherBits) {
  for (uint32_t index = 0; index < 1u << (otherBits.size() - matrixBits); ++index) {
    SharedAccess &access = rows.accesses.emplace_back();
    const uint32_t base = spread(otherBits.drop_front(matrixBits), index);
    access.offset = offsets.apply({{kRegister, int32_t(base)}}).front();
    for (uint32_t matrix = 0; matrix < 1u << matrixBits; ++matrix)
      for (uint32_t element = 0; element < 1u << wordBits.size(); ++element)
        access.registers.push_back(base | spread(otherBits.take_front(matrixBits), matrix) | spread(wordBits, element));
  }
}

std::optional<SharedAccessPattern> layout::planLdStMatrix(const LinearLayout &offsets, uint32_t copies,
                                                          unsigned elemBytes) {
  const Bases ofRegisters = basesOf(offsets, kRegister), ofLanes = basesOf(offsets, kLane),
              ofWarps = basesOf(offsets, kWarp);
  if (elemBytes > kWordBytes || ofLanes.size() != 5)
    return std::nullopt;
  std::optional<MatrixMapping> shape = plainMapping(ofRegisters, ofLanes, ofWarps, elemBytes);
  if (!shape)
    shape = transposedMapping(ofRegisters, ofLanes, ofWarps, elemBytes);
  if (!shape)
    return std::nullopt;

  llvm::SmallVector<unsigned, 8> otherBits;
  for (unsigned bit = 0; bit < ofRegisters.size(); ++bit)
    if (!llvm::is_contained(shape->wordBits, bit) && !(copies >> bit & 1))
      otherBits.push_back(bit);
  const unsigned matrixBits = std::min<size_t>(otherBits.size(), kMaxMatrixBits);
  SharedAccessPattern rows;
  rows.matrix = shape->form;
  rows.vectorElems = kRowBytes / elemBytes;
  llvm::append_range(rows.laneBases, shape->rowBases);
  for (unsigned bit = 0; bit < kMaxMatrixBits; ++bit)
    rows.laneBases.push_back(bit < matrixBits ? ofRegisters[otherBits[bit]] : 0);
  llvm::append_range(rows.warpBases, ofWarps);
  rows.offsets = rowOffsets(rows, offsets.outSize(kOffset));
  makeInstructions(rows, matrixBits, offsets, shape->wordBits, otherBits);
  setWavefronts(rows, elemBytes);
  return rows;
}

std::optional<SharedAccessPattern> layout::planLdStMatrix(const LinearLayout &registers, const LinearLayout &buffer,
                                                          unsigned elemBytes) {
  return planLdStMatrix(registers.invertAndCompose(buffer), registers.freeVariableMask(kRegister), elemBytes);
}
