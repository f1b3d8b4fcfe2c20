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
  if (region && isDispatched())
    first = (*getWarpGroupStartIds())[region - 1];
  return {first, count};
}

unsigned WarpSpecializeOp::totalWarps() {
  unsigned total = 0;
  for (unsigned region = 0; region < getNumRegions(); ++region) {
    const auto [first, count] = warpsOf(region);
    total = std::max(total, first + count);
  }
  return total;
}

SetVector<Value> WarpSpecializeOp::valuesFromOutside() {
  SetVector<Value> values;
  for (Region &region : getPartitionRegions())
    region.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (!(*this)->isAncestor(operand.getParentRegion()->getParentOp()))
          values.insert(operand);
    });
  return values;
}

/// PTX ISA, setmaxnreg: the registers of a CTA are a pool, and their number is a multiple of 8 for each thread. The
/// largest number that an instruction can address, 255, counts as 256.
static constexpr unsigned kRegisterStep = 8, kMostRegisters = 256;

unsigned WarpSpecializeOp::initialRegisters() {
  const unsigned warps = isDispatched() ? std::max(totalWarps(), totalWarpsOf(*this)) : totalWarps();
  const unsigned share = kRegistersOfCta / (warps * threadsPerWarpOf(*this));
  return std::min(share / kRegisterStep * kRegisterStep, kMostRegisters);
}

/// The barriers of all warps before the regions and after them. A buffer passes the number of the op and values of 8
/// bytes at most to the warps of partitions.
Scratch WarpSpecializeOp::getScratch() {
  if (!isDispatched())
    return {.bytes = 0, .barriers = 1};
  const unsigned values = valuesFromOutside().size() + getNumOperands();
  return {.bytes = 8 * (1 + values), .barriers = 2, .isKept = true};
}

void WarpYieldOp::build(OpBuilder &, OperationState &) {}

//--- text ----------------------------------------------------------------------------------

static ParseResult parsePartition(OpAsmParser &parser, OperationState &result, int32_t &numWarps) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::OptionalParen, /*allowType=*/true) ||
      parser.parseKeyword("num_warps") || parser.parseLParen() || parser.parseInteger(numWarps) || parser.parseRParen())
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

ParseResult WarpSpecializeOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<int32_t> numWarps;
  SmallVector<OpAsmParser::UnresolvedOperand> captures;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(captures, OpAsmParser::Delimiter::OptionalParen) ||
      tt::parseAttributesWithKeyword(parser, result) || parser.parseKeyword("default") ||
      parser.parseRegion(*result.addRegion()))
    return failure();
  while (succeeded(parser.parseOptionalKeyword(("partition" + Twine(numWarps.size())).str())))
    if (parsePartition(parser, result, numWarps.emplace_back()))
      return failure();
  result.addAttribute(getPartitionNumWarpsAttrName(result.name), parser.getBuilder().getDenseI32ArrayAttr(numWarps));
  FunctionType type = parser.getBuilder().getFunctionType({}, {});
  if (succeeded(parser.parseOptionalColon()) && parser.parseType(type))
    return failure();
  result.addTypes(type.getResults());
  return parser.resolveOperands(captures, type.getInputs(), loc, result.operands);
}

void WarpSpecializeOp::print(OpAsmPrinter &printer) {
  const bool hasTypes = !getCaptures().empty() || getNumResults() > 0;
  if (hasTypes)
    printer << '(' << getCaptures() << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getPartitionNumWarpsAttrName()});
  printer << " default ";
  printer.printRegion(getDefaultRegion());
  for (auto [index, region] : llvm::enumerate(getPartitionRegions())) {
    printer << " partition" << index;
    if (region.getNumArguments()) {
      printer << '(';
      llvm::interleaveComma(region.getArguments(), printer,
                            [&](BlockArgument argument) { printer.printRegionArgument(argument); });
      printer << ')';
    }
    printer << " num_warps(" << getPartitionNumWarps()[index] << ") ";
    printer.printRegion(region, /*printEntryBlockArgs=*/false);
  }
  if (hasTypes)
    printer << " : " << FunctionType::get(getContext(), getCaptures().getTypes(), getResultTypes());
}

//--- rules ---------------------------------------------------------------------------------

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
    if (warps % 4 != 0 && !op.isDispatched())
      return op.emitOpError() << "changes the registers of " << warps << " warps; they are whole warp groups";
    total += warps * count;
  }
  if (op.isDispatched()) // groups of warps share one number: see the pass that chose them
    return success();
  const unsigned initial = op.totalWarps() * op.initialRegisters();
  if (total > initial) // C5
    return op.emitOpError() << "gives a lane of each warp " << total << " registers in all, they start with "
                            << initial;
  return success();
}

/// C2, C3, C6: the op follows what all warps can run.
static LogicalResult verifyTail(WarpSpecializeOp op) {
  auto function = dyn_cast<tt::FuncOp>(op->getParentOp());
  if (!function || !function.isPublic() || !isa_and_nonnull<tt::ReturnOp>(op->getNextNode())) // C2
    return op.emitOpError() << "stands in the body of a kernel, before its `tt.return` alone";
  for (Operation &before : llvm::make_range(op->getBlock()->begin(), Block::iterator(op)))
    if (hasTiles(before.getResultTypes()) || hasTiles(before.getOperandTypes())) // C3
      return op.emitOpError() << "follows `" << before.getName() << "`, which has a tile";
  if (Value tile = foreignTile(op))
    return op.emitOpError() << "uses a tile from outside: " << tile.getType();
  auto isCall = [](tt::CallOp) { return WalkResult::interrupt(); };
  if (function.walk(isCall).wasInterrupted()) // C6
    return op.emitOpError() << "is in a kernel that calls functions";
  return success();
}

/// C9.
static LogicalResult verifyValues(WarpSpecializeOp op) {
  auto yield = dyn_cast<WarpYieldOp>(op.getDefaultRegion().front().getTerminator());
  if (!yield || yield.getOperandTypes() != op.getResultTypes())
    return op.emitOpError() << "has " << op.getNumResults()
                            << " results, of which the default region's `warp_yield` has other types or another number";
  for (Region &region : op.getPartitionRegions())
    if (region.getArgumentTypes() != op.getCaptures().getTypes())
      return op.emitOpError() << "has a partition of " << region.getNumArguments() << " arguments for "
                              << op.getCaptures().size() << " captures; they have the same types";
  return success();
}

LogicalResult WarpSpecializeOp::verify() {
  const size_t partitions = getPartitionRegions().size();
  if (getPartitionNumWarps().size() != partitions) // C1
    return emitOpError() << "has " << getPartitionNumWarps().size() << " numbers of warps for " << partitions
                         << " partitions";
  if (llvm::any_of(getPartitionNumWarps(), [](int32_t warps) { return warps < 1 || !llvm::isPowerOf2_32(warps); }))
    return emitOpError() << "has a partition whose number of warps is not a power of two";
  for (auto numbers : {getRequestedRegisters(), getWarpGroupStartIds()})
    if (numbers && numbers->size() != partitions)
      return emitOpError() << "has " << numbers->size() << " numbers for " << partitions << " partitions";
  if (totalWarps() > kMostWarps)
    return emitOpError() << "has " << totalWarps() << " warps in all, a program has " << kMostWarps << " at most";
  auto module = (*this)->getParentOfType<ModuleOp>();
  const bool isAllocated = isDispatched() || (module && module->hasAttr(kTotalWarps)) || getActualRegisters();
  if (isAllocated && (isDispatched() ? totalWarpsOf(*this) < totalWarps() : totalWarpsOf(*this) != totalWarps()))
    return emitOpError() << "has " << totalWarps() << " warps in all, the module's `ttg.total-num-warps` is "
                         << totalWarpsOf(*this);
  if (partitions > kMostPartitions) // C7
    return emitOpError() << "has " << partitions << " partitions; the most are " << kMostPartitions;
  for (unsigned region = 0; isAllocated && region < getNumRegions(); ++region)
    if (const auto [first, count] = warpsOf(region); count >= 4 && first % 4 != 0) // C8
      return emitOpError() << "has a region of " << count << " warps that begins at warp " << first
                           << "; warp groups begin at multiples of four";
  if (failed(verifyValues(*this)) || (isAllocated && !isDispatched() && failed(verifyTail(*this))))
    return failure();
  return getActualRegisters() ? verifyRegisters(*this, *getActualRegisters()) : success();
}
