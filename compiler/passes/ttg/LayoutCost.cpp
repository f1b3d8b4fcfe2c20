// Counts instructions, sectors of memory, shuffles and shared-memory traffic of candidate layouts.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/LayoutCost.h"
#include "artifact/ElementType.h"

#include "compiler/layout/Conversion.h"
#include "compiler/layout/Distributed.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using analysis::MemoryAccess;
using index::AxisInfo;
using index::AxisInfoAnalysis;
using layout::LinearLayout;

/// The cost of an instruction besides its sectors.
static constexpr unsigned kIssueCost = 2;
static constexpr unsigned kBarrierCost = 24;
/// The cost of the barriers of a warp in a conversion.
static constexpr unsigned kWarpBarrierCost = 16;
/// The extra cost of stores and additions of a dot's result that are narrower than 16 bytes; it makes a conversion
/// through shared memory pay.
static constexpr unsigned kNarrowResultCost = 16;
static constexpr int64_t kSectorBytes = 32;
/// Sectors that hit in L1, at the cost of one that misses.
static constexpr unsigned kHitsPerMiss = 4;

static const LinearLayout &linear(LayoutEncoding layout, ArrayRef<int64_t> shape) {
  return linearLayoutOf(RankedTensorType::get(shape, IntegerType::get(layout.getContext(), 1), layout));
}

unsigned ttg::loopWeight(unsigned loopDepth) { return 1u << 3 * std::min(loopDepth, 4u); }

/// The distinct sectors that a warp accesses along the bits of `ins`.
static unsigned sectorsAlong(const MemoryAccess &access, const AxisInfo &pointer, const LinearLayout &layout,
                             ArrayRef<StringRef> ins) {
  const int64_t sectorElems = std::max<int64_t>(1, kSectorBytes * 8 / access.elementBits);
  layout::BitColumns columns;
  for (StringRef in : ins)
    for (unsigned bit = 0; bit < layout.inBits(in); ++bit) {
      layout::BitVector column = 0;
      for (auto [dim, coordinate] : llvm::enumerate(layout.basis(in, bit))) {
        // Adjacent elements of a run share sectors; equal addresses share them even more.
        const int64_t together = std::max(pointer.constancy(dim), std::min(pointer.contiguity(dim), sectorElems));
        column = column << layout.outBits(layout::dimName(dim)) | uint64_t(coordinate / together);
      }
      columns.push_back(column);
    }
  return 1u << layout::rank(columns);
}

/// The cost of the sectors of `numVectors` instructions of `elems` elements each. Where the widest loads access parts
/// of a sector one after another, all but the first hit in L1; stores write through.
static unsigned sectorCost(const MemoryAccess &access, const AxisInfo &pointer, const LinearLayout &layout,
                           unsigned elems, unsigned numVectors) {
  const unsigned all = numVectors * sectorsAlong(access, pointer, layout, {layout::kLane});
  if (!isa<tt::LoadOp>(access.op) || access.bytes(elems) < analysis::kWidestAccessBytes)
    return all;
  const unsigned distinct = std::min(all, sectorsAlong(access, pointer, layout, {layout::kLane, layout::kRegister}));
  return distinct + (all - distinct) / kHitsPerMiss;
}

/// Whether a dot's result would be stored or added in vectors narrower than memory allows.
static bool isNarrowResult(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo, LayoutEncoding encoding,
                           unsigned elems) {
  if (!isa<tt::StoreOp, tt::AtomicRMWOp>(access.op) || !isMatrixInstruction(encoding))
    return false;
  const unsigned widest = access.widestBytes * 8 / access.elementBits;
  return elems < widest && llvm::any_of(
                               llvm::seq<unsigned>(0, access.tile().getRank()),
                               [&](unsigned dim) {
                                 return access.tile().getDimSize(dim) >= widest &&
                                        maxVectorElems(access, axisInfo, dim) >= widest;
                               });
}

unsigned ttg::accessCost(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo, LayoutEncoding encoding) {
  const LinearLayout &layout = linear(encoding, access.tile().getShape());
  const unsigned elems = vectorElems(access, axisInfo, layout);
  const uint32_t repeats = elems == 1 ? repeatedLoads(access, axisInfo, layout) : 0;
  const unsigned numVectors = (layout.inSize(layout::kRegister) / elems) >> llvm::popcount(repeats);
  const unsigned issueCost = kIssueCost + (isNarrowResult(access, axisInfo, encoding, elems) ? kNarrowResultCost : 0);
  return numVectors * issueCost + sectorCost(access, axisInfo.of(access.pointer), layout, elems, numVectors);
}

/// The number of bits of `in` that move along `axis`.
static unsigned bitsAlong(const LinearLayout &layout, StringRef in, unsigned axis) {
  return llvm::count_if(llvm::seq(layout.inBits(in)), [&](unsigned bit) { return layout.basis(in, bit)[axis] != 0; });
}

/// The number of register bits along the axis above the lowest bit that warps hold.
static unsigned registersAboveWarps(const LinearLayout &layout, unsigned axis) {
  int32_t lowest = std::numeric_limits<int32_t>::max();
  for (unsigned bit = 0; bit < layout.inBits(layout::kWarp); ++bit)
    if (int32_t along = layout.basis(layout::kWarp, bit)[axis])
      lowest = std::min(lowest, along);
  return llvm::count_if(llvm::seq(layout.inBits(layout::kRegister)),
                        [&](unsigned bit) { return layout.basis(layout::kRegister, bit)[axis] > lowest; });
}

/// A scan visits each register twice, and every thread scans the totals of the warps' blocks.
static unsigned scanCost(tt::ScanOp scan, unsigned axis, const LinearLayout &layout) {
  const unsigned registers = layout.inSize(layout::kRegister), warpBits = bitsAlong(layout, layout::kWarp, axis);
  const unsigned rows = registers >> bitsAlong(layout, layout::kRegister, axis);
  const unsigned blockBits = warpBits ? registersAboveWarps(layout, axis) : 0;
  const unsigned shuffles = 3 * (rows << blockBits) * bitsAlong(layout, layout::kLane, axis);
  const unsigned exchange = warpBits ? kBarrierCost + 2 * (rows << (blockBits + warpBits)) : 0;
  return scan.getSrcs().size() * (2 * registers + shuffles + exchange);
}

unsigned ttg::reductionCost(Operation *op, unsigned axis, LayoutEncoding encoding) {
  auto tile = cast<RankedTensorType>(op->getOperand(0).getType());
  const LinearLayout &layout = linear(encoding, tile.getShape());
  if (auto scan = dyn_cast<tt::ScanOp>(op))
    return scanCost(scan, axis, layout);
  const unsigned registers = layout.inSize(layout::kRegister);
  const unsigned results = registers >> bitsAlong(layout, layout::kRegister, axis);
  const unsigned shuffles = 2 * results * bitsAlong(layout, layout::kLane, axis);
  const bool crossesWarps = bitsAlong(layout, layout::kWarp, axis) != 0;
  const unsigned exchange = crossesWarps ? kBarrierCost + 2 * results : 0;
  return op->getNumOperands() * (registers + shuffles + exchange);
}

unsigned ttg::conversionCost(LayoutEncoding from, LayoutEncoding to, ArrayRef<int64_t> shape, unsigned elementBits,
                             ThreadCounts threads) {
  if (areEquivalent(from, to, shape))
    return 0;
  const uint64_t bytes = artifact::bytesOfBits(uint64_t(llvm::product_of(shape)) * elementBits);
  const uint64_t words = bytes / (4 * threads.numWarps * threads.threadsPerWarp);
  const bool isInWarps = isMatrixInstruction(from) && layout::staysInWarps(linear(from, shape), linear(to, shape));
  // Each word is written and read once.
  return (isInWarps ? kWarpBarrierCost : kBarrierCost) + 2 * std::max<uint64_t>(1, words);
}

//--- operands of matrix instructions -------------------------------------------------------

/// The dimension along K of a tile with the layout of an operand of a matrix instruction; none for other layouts.
static std::optional<unsigned> dimOfK(LayoutEncoding encoding) {
  auto operand = dyn_cast_or_null<DotOperandAttr>(encoding);
  if (!operand || !isMatrixInstruction(operand.getParent()))
    return std::nullopt;
  return operand.getRank() - (operand.getOpIdx() == 0 ? 1 : 2);
}

/// How many adjacent elements along a dimension a thread holds at least.
static unsigned adjacentElems(const LinearLayout &layout, unsigned dim) {
  unsigned elems = 1;
  for (bool isHeld = true; isHeld;) {
    isHeld = llvm::any_of(llvm::seq(layout.inBits(layout::kRegister)), [&](unsigned bit) {
      const LinearLayout::Coordinates basis = layout.basis(layout::kRegister, bit);
      return basis[dim] == int32_t(elems) && llvm::count(basis, 0) + 1 == int64_t(basis.size());
    });
    elems *= isHeld ? 2 : 1;
  }
  return elems;
}

unsigned ttg::operandReadCost(LayoutEncoding from, LayoutEncoding to, ArrayRef<int64_t> shape) {
  const std::optional<unsigned> dim = dimOfK(to);
  if (!dim)
    return 0;
  const LinearLayout &held = linear(to, shape);
  const unsigned wanted = adjacentElems(held, *dim), reads = held.inSize(layout::kRegister);
  return kIssueCost * (reads / std::min(wanted, adjacentElems(linear(from, shape), *dim)) - reads / wanted);
}

LayoutEncoding ttg::blockAlongK(LayoutEncoding layout, LayoutEncoding operand, ArrayRef<int64_t> shape,
                                ThreadCounts threads) {
  const std::optional<unsigned> dim = dimOfK(operand);
  auto blocked = dyn_cast<BlockedAttr>(layout);
  if (!dim || !blocked || blocked.getOrder().front() == *dim || blocked.getSizePerThread()[*dim] > 1)
    return {};
  SmallVector<unsigned> size(blocked.getSizePerThread());
  const int64_t perThread = llvm::product_of(shape) / (threads.numWarps * threads.threadsPerWarp);
  const unsigned wanted = adjacentElems(linear(operand, shape), *dim);
  size[*dim] = std::min<int64_t>({wanted, shape[*dim], perThread / std::max<int64_t>(1, llvm::product_of(size))});
  if (size[*dim] <= 1)
    return {};
  return defaultBlocked(layout.getContext(), shape, size, blocked.getOrder(), threads.numWarps, threads.threadsPerWarp);
}

//--- preferred layout of an access ---------------------------------------------------------

/// Dimensions by the length of their runs in memory, the longest first; among equals the last dimension comes first.
static SmallVector<unsigned> orderByRuns(const AxisInfo &pointer, unsigned rank) {
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(pointer.contiguity(a), a) > std::pair(pointer.contiguity(b), b);
  });
  return order;
}

BlockedAttr ttg::preferredLayout(const MemoryAccess &access, const AxisInfoAnalysis &axisInfo, ThreadCounts threads,
                                 std::optional<unsigned> keptInWarp) {
  RankedTensorType tile = access.tile();
  const unsigned rank = tile.getRank();
  const SmallVector<unsigned> order = orderByRuns(axisInfo.of(access.pointer), rank);
  const int64_t perThread = std::max<int64_t>(1, tile.getNumElements() / (threads.numWarps * threads.threadsPerWarp));
  SmallVector<unsigned> sizePerThread(rank, 1);
  sizePerThread[order[0]] =
      std::min<int64_t>({maxVectorElems(access, axisInfo, order[0]), perThread, tile.getDimSize(order[0])});
  SmallVector<unsigned> warpOrder(order);
  if (keptInWarp) {
    llvm::erase(warpOrder, *keptInWarp);
    warpOrder.push_back(*keptInWarp);
  }
  return defaultBlocked(tile.getContext(), tile.getShape(), sizePerThread, order, threads.numWarps,
                        threads.threadsPerWarp, warpOrder);
}

/// The coordinate bits that the registers and lanes of a warp hold, by `order` of dimensions; nothing where these hold
/// anything but ranges of coordinates, or several warps hold the same elements.
static std::optional<SmallVector<LinearLayout::Coordinates>> coordinatesOfWarp(const LinearLayout &layout,
                                                                               ArrayRef<unsigned> order) {
  layout::BitSpan ofWarp(layout.columns(layout::kRegister));
  for (layout::BitVector lane : layout.columns(layout::kLane))
    ofWarp.insert(lane);
  layout::BitSpan all(ofWarp);
  if (layout.inBits(layout::kBlock) ||
      !llvm::all_of(layout.columns(layout::kWarp), [&](layout::BitVector warp) { return all.insert(warp); }))
    return std::nullopt;
  SmallVector<LinearLayout::Coordinates> held;
  for (unsigned dim : order) {
    unsigned shift = 0;
    for (unsigned faster = dim + 1; faster < order.size(); ++faster)
      shift += layout.outBits(layout::dimName(faster));
    for (unsigned bit = 0; bit < layout.outBits(layout::dimName(dim)); ++bit)
      if (ofWarp.contains(uint64_t(1) << (shift + bit)))
        held.emplace_back(LinearLayout::Coordinates(order.size(), 0))[dim] = 1 << bit;
  }
  if (held.size() != ofWarp.rank())
    return std::nullopt;
  return held;
}

LayoutEncoding ttg::layoutInWarpsOf(LayoutEncoding result, const MemoryAccess &access,
                                    const AxisInfoAnalysis &axisInfo) {
  const ArrayRef<int64_t> shape = access.tile().getShape();
  const LinearLayout &layout = linear(result, shape);
  const SmallVector<unsigned> order = orderByRuns(axisInfo.of(access.pointer), shape.size());
  const auto held = coordinatesOfWarp(layout, order);
  const unsigned vectorBits = llvm::Log2_32(maxVectorElems(access, axisInfo, order[0]));
  const unsigned laneBits = layout.inBits(layout::kLane);
  if (!held || held->size() < vectorBits + laneBits)
    return {};
  LinearLayout::Input registers{layout::kRegister.str(), {}}, lanes{layout::kLane.str(), {}},
      warps{layout::kWarp.str(), {}};
  for (auto [index, coordinates] : llvm::enumerate(*held)) {
    const bool isOfLane = index >= vectorBits && index < vectorBits + laneBits;
    (isOfLane ? lanes : registers).bases.push_back(coordinates);
  }
  for (unsigned bit = 0; bit < layout.inBits(layout::kWarp); ++bit)
    warps.bases.push_back(layout.basis(layout::kWarp, bit));
  const auto chosen = LinearLayout::fromBases({registers, lanes, warps, {layout::kBlock.str(), {}}}, layout.outputs());
  return encodingFor(result.getContext(), chosen, shape);
}
