// Computes the vector widths of global accesses.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/MemoryAccess.h"

#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::analysis;
using layout::LinearLayout;

/// The widest vector of an atomic access: additions of floats have vectors, other accesses are scalar.
static unsigned widestAtomicBytes(Operation *op, unsigned elementBits) {
  auto combine = dyn_cast<tt::AtomicRMWOp>(op);
  const bool isFloatSum = combine && combine.getAtomicRmwOp() == tt::RMWOp::FADD && elementBits <= 32;
  if (isFloatSum && op->getParentOfType<ModuleOp>()->hasAttr(kVectorAtomics))
    return kWidestAccessBytes;
  return artifact::bytesOfBits(elementBits) * (isFloatSum && elementBits == 16 ? 2 : 1);
}

std::optional<MemoryAccess> analysis::anyAccessOf(Operation *op) {
  auto interface = dyn_cast<tt::MemoryAccessOpInterface>(op);
  if (!interface)
    return std::nullopt;
  MemoryAccess access;
  access.op = op;
  access.pointer = interface.getAccessedPointer();
  access.mask = interface.getAccessMask();
  access.value = interface.getStoredValue();
  access.elementBits = memoryBits(tt::elementOf(tt::pointeeLike(access.pointer.getType())));
  if (interface.isAtomic())
    access.widestBytes = widestAtomicBytes(op, access.elementBits);
  return access;
}

static bool isAtomicAccess(Operation *op) {
  auto interface = dyn_cast<tt::MemoryAccessOpInterface>(op);
  return interface && interface.isAtomic();
}

std::optional<MemoryAccess> analysis::memoryAccessOf(Operation *op) {
  return isAtomicAccess(op) ? std::nullopt : anyAccessOf(op);
}

std::optional<MemoryAccess> analysis::atomicAccessOf(Operation *op) {
  return isAtomicAccess(op) ? anyAccessOf(op) : std::nullopt;
}

unsigned analysis::maxVectorElems(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo, unsigned dim) {
  const AxisInfo pointer = axisInfo.of(access.pointer);
  const int64_t bytes = access.bytes(1);
  int64_t elems = std::min(pointer.contiguity(dim), pointer.dims[dim].divisibility / bytes);
  elems = std::min(elems, access.widestBytes / bytes);
  if (access.mask)
    elems = std::min(elems, axisInfo.of(access.mask).constancy(dim));
  return std::max<int64_t>(1, elems);
}

/// Whether register bit i is coordinate bit i of `dim` for the lowest `bits` bits, and no other input moves these.
static bool startsWith(const LinearLayout &layout, unsigned dim, unsigned bits) {
  const int32_t low = (int32_t(1) << bits) - 1;
  for (StringRef input : layout.inputNames())
    for (unsigned bit = 0; bit < layout.inBits(input); ++bit) {
      const LinearLayout::Coordinates basis = layout.basis(input, bit);
      if (input != layout::kRegister || bit >= bits) {
        if (basis[dim] & low)
          return false;
        continue;
      }
      for (auto [other, coordinate] : llvm::enumerate(basis))
        if (coordinate != (other == dim ? int32_t(1) << bit : 0))
          return false;
    }
  return true;
}

unsigned analysis::vectorElems(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo) {
  RankedTensorType tile = access.tile();
  return tile && ttg::encodingOf(tile) ? vectorElems(access, axisInfo, ttg::linearLayoutOf(tile)) : 1;
}

unsigned analysis::vectorElems(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo,
                               const LinearLayout &layout) {
  if (layout.inBits(layout::kRegister) == 0)
    return 1;
  const LinearLayout::Coordinates first = layout.basis(layout::kRegister, 0);
  const unsigned dim = llvm::find(first, 1) - first.begin();
  if (dim == first.size())
    return 1;
  for (unsigned bits = llvm::Log2_32(maxVectorElems(access, axisInfo, dim)); bits > 0; --bits)
    if (bits <= layout.inBits(layout::kRegister) && startsWith(layout, dim, bits))
      return 1u << bits;
  return 1;
}

uint32_t analysis::repeatedRegisters(const AxisInfo &elements, const LinearLayout &layout) {
  auto staysInGroup = [&](auto place) { return place.value() < elements.constancy(place.index()); };
  uint32_t mask = 0;
  for (unsigned bit = 0; bit < layout.inBits(layout::kRegister); ++bit)
    if (llvm::all_of(llvm::enumerate(layout.basis(layout::kRegister, bit)), staysInGroup))
      mask |= 1u << bit;
  return mask;
}

uint32_t analysis::repeatedLoads(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo,
                                 const LinearLayout &layout) {
  auto load = dyn_cast<tt::LoadOp>(access.op);
  if (!load || load.getIsVolatile() || layout.inBits(layout::kRegister) == 0)
    return 0;
  uint32_t mask = repeatedRegisters(axisInfo.of(access.pointer), layout);
  for (Value operand : {load.getMask(), load.getOther()})
    if (operand && !matchPattern(operand, m_Constant()))
      mask &= repeatedRegisters(axisInfo.of(operand), layout);
  return mask;
}
