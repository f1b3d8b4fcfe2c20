// Passes operands of dots to their threads through buffers in shared memory.
//
//   %o = ttg.convert_layout %x : #blocked -> #dot_op   ->   %b = ttg.local_alloc %x : (#blocked) -> #shared
//                                                           %o = ttg.local_load %b : #shared -> #dot_op
//
// A transposition between a load and the buffer moves before the load, where it is free.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/ttg/AsyncInterfaces.h"
#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/layout/SharedAccessPlan.h"
#include "compiler/passes/ttg/DotLayouts.h"
#include "compiler/passes/ttg/Passes.h"

#include "mlir/IR/Builders.h"

namespace nereid::ttg {
#define GEN_PASS_DEF_SHAREOPERANDS
#include "compiler/passes/ttg/Passes.h.inc"
} // namespace nereid::ttg

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using layout::LinearLayout;

//--- encoding of the buffer ----------------------------------------------------------------

/// Dimensions, starting with the one that registers run along.
static SmallVector<unsigned> orderOf(RankedTensorType tile) {
  const LinearLayout &layout = linearLayoutOf(tile);
  SmallVector<unsigned> order;
  auto add = [&](unsigned dim) {
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  };
  for (StringRef in : {StringRef(layout::kRegister), StringRef(layout::kLane)})
    for (unsigned bit = 0; bit < layout.inBits(in); ++bit)
      for (auto [dim, coordinate] : llvm::enumerate(layout.basis(in, bit)))
        if (coordinate == 1)
          add(dim);
  for (unsigned dim = tile.getRank(); dim-- > 0;)
    add(dim);
  return order;
}

/// Wavefronts of a warp that fills the buffer and reads it back.
static unsigned costOf(RankedTensorType from, RankedTensorType to, LayoutEncoding encoding, bool hasLdmatrix) {
  const unsigned bytes = tt::storageBytes(from.getElementType());
  const unsigned most = analysis::kWidestAccessBytes / bytes;
  const LinearLayout bufferLayout = encoding.toLinearLayout(from.getShape());
  auto cost = [](const layout::SharedAccessPattern &pattern) { return pattern.accesses.size() * pattern.wavefronts; };
  const auto matrices = hasLdmatrix ? layout::planLdStMatrix(linearLayoutOf(to), bufferLayout, bytes) : std::nullopt;
  return cost(layout::planSharedAccesses(linearLayoutOf(from), bufferLayout, bytes, most)) +
         cost(matrices ? *matrices : layout::planSharedAccesses(linearLayoutOf(to), bufferLayout, bytes, most));
}

namespace {
/// Candidates for the encoding of a buffer, of which the one with the fewest wavefronts is kept.
struct BufferChoice {
  RankedTensorType from, to;
  bool hasLdmatrix;
  LayoutEncoding best = {};
  unsigned bestCost = ~0u;

  void consider(LayoutEncoding candidate) {
    if (const unsigned cost = costOf(from, to, candidate, hasLdmatrix); cost < bestCost) {
      best = candidate;
      bestCost = cost;
    }
  }
};
} // namespace

/// Considers swizzles of rows along `order`. Vectors have 16 bytes or a multiple of them; the phase changes once per
/// line of all banks that rows fill.
static void considerSwizzles(BufferChoice &choice, ArrayRef<unsigned> order, bool rotates) {
  RankedTensorType from = choice.from;
  const int64_t extent = from.getDimSize(order[0]), bytes = tt::storageBytes(from.getElementType());
  const int64_t lineElems = layout::BankModel().lineBytes / bytes;
  const unsigned perPhase = std::max<int64_t>(1, lineElems / extent);
  for (int64_t vec = std::min<int64_t>(extent, layout::BankModel().maxAccessBytes / bytes);
       vec <= std::min(extent, lineElems); vec *= 2) {
    const unsigned phases = std::min(extent, lineElems) / vec;
    choice.consider(SwizzledSharedAttr::get(from.getContext(), vec, phases > 1 ? perPhase : 1, phases, order));
    if (rotates && phases > 1)
      choice.consider(AmdRotatingSharedAttr::get(from.getContext(), vec, perPhase, phases, order));
  }
}

/// Rows of the buffer follow those in memory. Where no instruction transposes on the way from it, they may follow those
/// of the operand: threads that hold several of its elements then write them as vectors.
static LayoutEncoding bufferEncoding(RankedTensorType from, RankedTensorType to, bool hasLdmatrix) {
  BufferChoice choice{from, to, hasLdmatrix};
  considerSwizzles(choice, orderOf(from), /*rotates=*/false);
  if (!hasLdmatrix && orderOf(to) != orderOf(from))
    considerSwizzles(choice, orderOf(to), /*rotates=*/true);
  return choice.best;
}

//--- conversions ---------------------------------------------------------------------------

/// Rewrites the transposition of a converted tile to an operand as the conversion of a transposed tile.
static void convertAfterTransposition(tt::TransOp transposition) {
  auto conversion = transposition.getSrc().getDefiningOp<ConvertLayoutOp>();
  if (!isa<DotOperandAttr>(encodingOf(transposition.getType())) || !conversion || !conversion->hasOneUse())
    return;
  const auto type = cast<RankedTensorType>(conversion.getSrc().getType());
  const LayoutEncoding encoding = inferTransposed(encodingOf(type), type.getShape(), transposition.getOrder());
  if (!encoding)
    return;
  OpBuilder builder(conversion);
  auto result = cast<RankedTensorType>(transposition.getType());
  Value transposed = tt::TransOp::create(builder, transposition.getLoc(), result.cloneWithEncoding(encoding),
                                         conversion.getSrc(), transposition.getOrderAttr());
  Value converted = ConvertLayoutOp::create(builder, conversion.getLoc(), result, transposed);
  transposition.replaceAllUsesWith(converted);
  transposition.erase();
  conversion.erase();
}

/// Rewrites a transposed load as a load by transposed pointers.
static Value sinkTransposition(Value value) {
  auto transposition = value.getDefiningOp<tt::TransOp>();
  auto load = transposition ? transposition.getSrc().getDefiningOp<tt::LoadOp>() : tt::LoadOp();
  if (!load || !load->hasOneUse() || !transposition->hasOneUse() || load->getBlock() != transposition->getBlock())
    return value;
  OpBuilder builder(load);
  auto transpose = [&](Value operand) -> Value {
    if (!operand)
      return operand;
    auto type = cast<RankedTensorType>(value.getType()).clone(tt::elementOf(operand.getType()));
    return tt::TransOp::create(builder, transposition.getLoc(), type, operand, transposition.getOrderAttr());
  };
  Value pointer = transpose(load.getPtr()), mask = transpose(load.getMask()), other = transpose(load.getOther());
  auto transposedLoad = tt::LoadOp::create(builder, load.getLoc(), value.getType(), pointer, mask, other,
                                           load.getCache(), load.getEvict(), load.getIsVolatile());
  transposedLoad->setDiscardableAttrs(load->getDiscardableAttrDictionary());
  value.replaceAllUsesWith(transposedLoad);
  transposition.erase();
  load.erase();
  return transposedLoad;
}

/// The transposition between a tile read through a tensor map and `value`, if any.
static tt::TransOp transposeOfTileLoad(Value value) {
  auto trans = value.getDefiningOp<tt::TransOp>();
  return trans && trans.getSrc().getDefiningOp<AsyncTileLoad>() ? trans : tt::TransOp();
}

static bool wantsBuffer(ConvertLayoutOp op) {
  auto from = cast<RankedTensorType>(op.getSrc().getType()), to = cast<RankedTensorType>(op.getType());
  if (!isa<DotOperandAttr>(to.getEncoding()) || isMatrixInstruction(from.getEncoding()))
    return false;
  Operation *source = op.getSrc().getDefiningOp();
  if (isa_and_nonnull<tt::LoadOp, AsyncTileLoad>(source) || transposeOfTileLoad(op.getSrc()))
    return true;
  return planConversion(op).kind == layout::ConversionKind::Shared;
}

static bool hasRoom(ConvertLayoutOp op, unsigned maxSharedBytes) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto dot = isa<tt::DotOp, tt::DotScaledOp>(user) ? cast<tt::DotOpInterface>(user) : tt::DotOpInterface();
    return !dot || bytesOfOperands(dot) <= maxSharedBytes;
  });
}

/// The first op that uses `value`, if all users are in one basic block.
static Operation *firstUser(Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    if (first && user->getBlock() != first->getBlock())
      return nullptr;
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  return first;
}

/// A buffer of the kind that a copy of the whole tile fills.
static Value bufferOfTile(OpBuilder &builder, Value tile) {
  const MemDescType type = tile.getDefiningOp<AsyncTileLoad>().bufferType(/*isMutable=*/false);
  return LocalAllocOp::create(builder, tile.getLoc(), type, tile, IntegerAttr());
}

/// Buffers are filled in sequence and then read, so that one barrier serves several.
static void loadThroughBuffer(ConvertLayoutOp op) {
  auto from = cast<RankedTensorType>(op.getSrc().getType()), to = cast<RankedTensorType>(op.getType());
  OpBuilder builder(op);
  Value buffer;
  if (tt::TransOp trans = transposeOfTileLoad(op.getSrc())) {
    buffer = bufferOfTile(builder, trans.getSrc());
    auto type = cast<MemDescType>(buffer.getType());
    auto encoding = cast<NvmmaSharedAttr>(type.getEncoding());
    auto transposedEncoding = NvmmaSharedAttr::get(op.getContext(), encoding.getSwizzlingByteWidth(),
                                                   /*transposed=*/true, encoding.getElementBitWidth(), 2);
    buffer = MemDescTransOp::create(
        builder, op.getLoc(),
        MemDescType::get(from.getShape(), from.getElementType(), transposedEncoding, type.getMemorySpace()), buffer,
        trans.getOrder());
  } else if (op.getSrc().getDefiningOp<AsyncTileLoad>()) {
    buffer = bufferOfTile(builder, op.getSrc());
  } else {
    auto type = MemDescType::get(from.getShape(), from.getElementType(),
                                 bufferEncoding(from, to, matrixAccessesOf(op).hasLdmatrix),
                                 SharedMemoryAttr::get(op.getContext()));
    buffer = LocalAllocOp::create(builder, op.getLoc(), type, op.getSrc(), IntegerAttr());
  }
  if (Operation *user = firstUser(op.getResult()); user && user->getBlock() == op->getBlock())
    builder.setInsertionPoint(user);
  Value operand = LocalLoadOp::create(builder, op.getLoc(), to, buffer);
  op.getResult().replaceAllUsesWith(operand);
  Operation *source = op.getSrc().getDefiningOp();
  op.erase();
  if (isa_and_nonnull<tt::TransOp>(source) && source->use_empty())
    source->erase();
}

/// Moves the conversion of an operand within a warp to a dot that reads the other one from shared memory itself: the
/// operand's registers, of which there may be copies, are then not live together with those of a tile that goes there.
static void convertAtDot(tt::DotOp dot, Value operand) {
  auto conversion = operand.getDefiningOp<ConvertLayoutOp>();
  if (conversion && conversion->hasOneUse() && conversion->getBlock() == dot->getBlock() &&
      analysis::bufferBytes(conversion) == 0)
    conversion->moveBefore(dot);
}

//--- operands that a loop does not change --------------------------------------------------

/// Bytes of the buffers that exist in a loop.
static unsigned sharedBytesIn(scf::ForOp loop) {
  unsigned bytes = 0, scratch = 0;
  loop->walk([&](Operation *op) {
    if (isa<LocalAllocOp>(op))
      bytes += analysis::bufferBytes(op);
    else
      scratch = std::max(scratch, analysis::scratchBytes(op));
  });
  return bytes + scratch;
}

/// Keeps an operand from before the loop in a buffer that each iteration reads.
static void readInLoop(tt::DotOp dot, OpOperand &operand, scf::ForOp loop) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  auto load = operand.get().getDefiningOp<LocalLoadOp>();
  OpBuilder builder(loop);
  Value buffer = load ? load.getSrc() : Value();
  if (!load) {
    auto bufferType =
        MemDescType::get(type.getShape(), type.getElementType(), bufferEncoding(type, type, /*hasLdmatrix=*/false),
                         SharedMemoryAttr::get(dot.getContext()));
    buffer = LocalAllocOp::create(builder, dot.getLoc(), bufferType, operand.get(), IntegerAttr());
  }
  builder.setInsertionPoint(dot);
  operand.set(LocalLoadOp::create(builder, dot.getLoc(), type, buffer));
}

/// The loop around the dot that does not change an operand of more than `keptRegisters`.
static scf::ForOp loopToReadIn(tt::DotOp dot, Value operand, unsigned keptRegisters) {
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  if (!loop || !isMatrixInstruction(encodingOf(dot.getType())) || !loop.isDefinedOutsideOfLoop(operand) ||
      analysis::registersOf(operand.getType()) <= keptRegisters)
    return {};
  return loop;
}

namespace {
struct ShareOperands : ttg::impl::ShareOperandsBase<ShareOperands> {
  using ShareOperandsBase::ShareOperandsBase;

  void runOnOperation() final {
    SmallVector<tt::TransOp> transpositions;
    getOperation().walk([&](tt::TransOp op) { transpositions.push_back(op); });
    llvm::for_each(transpositions, convertAfterTransposition);
    SmallVector<ConvertLayoutOp> conversions;
    getOperation().walk([&](ConvertLayoutOp op) { conversions.push_back(op); });
    for (ConvertLayoutOp op : conversions) {
      if (isa<DotOperandAttr>(encodingOf(op.getType())))
        sinkTransposition(op.getSrc());
      if (!wantsBuffer(op) || !hasRoom(op, maxSharedBytes))
        continue;
      loadThroughBuffer(op);
      ++numShared;
    }
    SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) { dots.push_back(dot); });
    for (tt::DotOp dot : dots) {
      readInLoops(dot);
      if (!savesRegisters)
        continue;
      convertAtDot(dot, dot.getA());
      convertAtDot(dot, dot.getB());
    }
  }

  void readInLoops(tt::DotOp dot) {
    for (OpOperand *operand : {&dot.getAMutable(), &dot.getBMutable()}) {
      scf::ForOp loop = loopToReadIn(dot, operand->get(), keptRegisters);
      if (!loop)
        continue;
      auto type = cast<RankedTensorType>(operand->get().getType());
      const unsigned bytes = tt::tileBytes(type);
      if (sharedBytesIn(loop) + bytes > maxSharedBytes)
        continue;
      readInLoop(dot, *operand, loop);
      ++numShared;
    }
  }
};
} // namespace
