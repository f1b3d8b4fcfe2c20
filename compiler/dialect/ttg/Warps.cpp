// Parses, prints and verifies `warp_specialize`, and counts its warps.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/InherentAttributes.h"
#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

std::pair<unsigned, unsigned> WarpSpecializeOp::warpsOf(unsigned region) {
  auto module = (*this)->getParentOfType<ModuleOp>();
  auto number = module ? module->getAttrOfType<IntegerAttr>(kNumWarps) : IntegerAttr();
  unsigned first = 0, count = number ? number.getInt() : 4;
  for (int32_t warps : getPartitionNumWarps().take_front(region)) {
    first += count;
    count = warps;
  }
  return {first, count};
}

unsigned WarpSpecializeOp::totalWarps() {
  const auto [first, count] = warpsOf(getPartitionRegions().size());
  return first + count;
}

/// PTX ISA, setmaxnreg: the registers of a CTA are a pool, and their number is a multiple of 8 for each thread. The
/// largest number that an instruction can address, 255, counts as 256.
static constexpr unsigned kRegisterStep = 8, kMostRegisters = 256;

unsigned WarpSpecializeOp::initialRegisters() {
  const unsigned share = kRegistersOfCta / (totalWarps() * threadsPerWarpOf(*this));
  return std::min(share / kRegisterStep * kRegisterStep, kMostRegisters);
}

/// The barrier of all warps before the regions.
Scratch WarpSpecializeOp::getScratch() { return {.bytes = 0, .barriers = 1}; }

ParseResult WarpSpecializeOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<int32_t> numWarps;
  if (tt::parseAttributesWithKeyword(parser, result) || parser.parseKeyword("default") ||
      parser.parseRegion(*result.addRegion()))
    return failure();
  while (succeeded(parser.parseOptionalKeyword(("partition" + Twine(numWarps.size())).str())))
    if (parser.parseKeyword("num_warps") || parser.parseLParen() || parser.parseInteger(numWarps.emplace_back()) ||
        parser.parseRParen() || parser.parseRegion(*result.addRegion()))
      return failure();
  result.addAttribute(getPartitionNumWarpsAttrName(result.name), parser.getBuilder().getDenseI32ArrayAttr(numWarps));
  return success();
}

void WarpSpecializeOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getPartitionNumWarpsAttrName()});
  printer << " default ";
  printer.printRegion(getDefaultRegion());
  for (auto [index, region] : llvm::enumerate(getPartitionRegions())) {
    printer << " partition" << index << " num_warps(" << getPartitionNumWarps()[index] << ") ";
    printer.printRegion(region);
  }
}

/// A CTA has 1024 threads, and 16 barriers: one of its own, one for each region, two in reserve.
static constexpr unsigned kMostWarps = 32, kMostPartitions = 12;

static bool hasTiles(TypeRange types) { return llvm::any_of(types, llvm::IsaPred<RankedTensorType>); }

/// A tile that a region uses and that is defined outside of the op; null where there is none.
static Value foreignTile(WarpSpecializeOp op) {
  Value source;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && !op->isAncestor(operand.getParentRegion()->getParentOp()))
        source = operand;
  });
  return source;
}

static LogicalResult verifyRegisters(WarpSpecializeOp op, ArrayRef<int32_t> registers) {
  if (registers.size() != op->getNumRegions()) // C4
    return op.emitOpError() << "has " << registers.size() << " numbers of registers for " << op->getNumRegions()
                            << " regions";
  unsigned total = 0;
  for (auto [region, count] : llvm::enumerate(registers)) {
    if (count < 24 || count > 256 || count % 8 != 0)
      return op.emitOpError() << "has " << count << " registers for a region; it is a multiple of 8 from 24 to 256";
    const unsigned warps = op.warpsOf(region).second;
    if (warps % 4 != 0)
      return op.emitOpError() << "changes the registers of " << warps << " warps; they are whole warp groups";
    total += warps * count;
  }
  const unsigned initial = op.totalWarps() * op.initialRegisters();
  if (total > initial) // C5
    return op.emitOpError() << "gives a lane of each warp " << total << " registers in all, they start with "
                            << initial;
  return success();
}

LogicalResult WarpSpecializeOp::verify() {
  if (getPartitionNumWarps().size() != getPartitionRegions().size()) // C1
    return emitOpError() << "has " << getPartitionNumWarps().size() << " numbers of warps for "
                         << getPartitionRegions().size() << " partitions";
  if (llvm::any_of(getPartitionNumWarps(), [](int32_t warps) { return warps < 1 || !llvm::isPowerOf2_32(warps); }))
    return emitOpError() << "has a partition whose number of warps is not a power of two";
  if (totalWarps() > kMostWarps)
    return emitOpError() << "has " << totalWarps() << " warps in all, a program has " << kMostWarps << " at most";
  if (totalWarpsOf(*this) != totalWarps())
    return emitOpError() << "has " << totalWarps() << " warps in all, the module's `ttg.total-num-warps` is "
                         << totalWarpsOf(*this);
  if (getPartitionRegions().size() > kMostPartitions) // C7
    return emitOpError() << "has " << getPartitionRegions().size() << " partitions; the most are " << kMostPartitions;
  for (unsigned region = 0; region < getNumRegions(); ++region)
    if (const auto [first, count] = warpsOf(region); count >= 4 && first % 4 != 0) // C8
      return emitOpError() << "has a region of " << count << " warps that begins at warp " << first
                           << "; warp groups begin at multiples of four";
  auto function = dyn_cast<tt::FuncOp>((*this)->getParentOp());
  if (!function || !function.isPublic() || !isa_and_nonnull<tt::ReturnOp>((*this)->getNextNode())) // C2
    return emitOpError() << "stands in the body of a kernel, before its `tt.return` alone";
  for (Operation &before : llvm::make_range((*this)->getBlock()->begin(), Block::iterator(*this)))
    if (hasTiles(before.getResultTypes()) || hasTiles(before.getOperandTypes())) // C3
      return emitOpError() << "follows `" << before.getName() << "`, which has a tile";
  if (Value tile = foreignTile(*this))
    return emitOpError() << "uses a tile from outside: " << tile.getType();
  auto isCall = [](tt::CallOp) { return WalkResult::interrupt(); };
  if (function.walk(isCall).wasInterrupted()) // C6
    return emitOpError() << "is in a kernel that calls functions";
  return getActualRegisters() ? verifyRegisters(*this, *getActualRegisters()) : success();
}
