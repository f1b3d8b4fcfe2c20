// Splits pointers of accesses into a scalar and an offset of 32 bits, for buffer instructions.
// SPDX-License-Identifier: MIT
//
//   %p = splat %arg + (splat %i + %r)       ->       %base = %arg + %i;  %p = splat %base + %r
//   tt.load %p                                       tt.load %p {ttg.bounded_offset}
#include "compiler/dialect/tt/Elements.h"
#include "compiler/passes/tt/CarriedTiles.h"
#include "compiler/target/amd/passes/Passes.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/index/AxisInfo.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"

namespace nereid::amd {
#define GEN_PASS_DEF_BOUNDOFFSETS
#include "compiler/target/amd/passes/Passes.h.inc"
} // namespace nereid::amd

using namespace mlir;
using namespace nereid;
using namespace nereid::amd;

//--- scalars that are the same in all lanes ------------------------------------------------

/// Whether the hardware holds the scalar once for a wave, as far as can be seen here.
static bool isUniform(Value scalar, llvm::SmallDenseSet<Value, 8> &seen) {
  if (!seen.insert(scalar).second)
    return true; // a loop carries it: the other values decide
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto function = dyn_cast<tt::FuncOp>(parent))
      return function.isPublic();
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return false;
    if (argument == loop.getInductionVar())
      return isUniform(loop.getLowerBound(), seen) && isUniform(loop.getStep(), seen);
    return isUniform(loop.getTiedLoopInit(argument)->get(), seen) &&
           isUniform(loop.getTiedLoopYieldedValue(argument)->get(), seen);
  }
  Operation *op = scalar.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return isUniform(loop.getRegionIterArg(cast<OpResult>(scalar).getResultNumber()), seen);
  const bool isComputed =
      isa<arith::ConstantOp, tt::GetProgramIdOp, tt::GetNumProgramsOp, tt::AddPtrOp, tt::LoadOp>(op) ||
      (isa<arith::ArithDialect>(op->getDialect()) && isPure(op));
  return isComputed && llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isa<RankedTensorType>(operand.getType()) && isUniform(operand, seen);
         });
}

static bool isUniform(Value scalar) {
  llvm::SmallDenseSet<Value, 8> seen;
  return isUniform(scalar, seen);
}

//--- addresses -----------------------------------------------------------------------------

namespace {
/// The address of each element: base + scalars + constant + steps + rest, in elements.
struct Address {
  Value base;
  SmallVector<Value, 4> scalars;
  int64_t constant = 0;
  SmallVector<Value, 2> steps;  ///< scalars that iterations of loops add to carried tiles
  SmallVector<Value, 4> leaves; ///< tiles, the sum of which is the rest
  SmallVector<tt::CarriedTile, 2> carried;
};

/// Takes addresses apart. With a builder the rest is built as a tile of its own, beside the ops that it comes from;
/// without one, only its leaves are collected and any value stands for it.
class Splitter {
public:
  explicit Splitter(Address &address, OpBuilder *builder = nullptr) : address(address), builder(builder) {}

  /// The rest of a tile of pointers, null for none; nothing where the pointer is of another form.
  std::optional<Value> pointers(Value tile);

private:
  Value offsets(Value tile);
  Value both(Operation *op, Value left, Value right);
  Value moved(Operation *op, Value rest);
  std::optional<Value> carriedBy(scf::ForOp loop, unsigned index);
  Value widened(Value tile, Type type);

  Address &address;
  OpBuilder *builder;
};
} // namespace

/// The scalar of a tile of equal elements, where it is uniform.
static Value uniformScalar(Value tile) {
  auto splat = tile.getDefiningOp<tt::SplatOp>();
  return splat && isUniform(splat.getSrc()) ? splat.getSrc() : Value();
}

/// Ops that only move elements, with one operand.
static bool movesElements(Operation *op) { return isa<tt::ElementMapOpInterface>(op) && op->getNumOperands() == 1; }

/// Attributes that tell more about a value than its operands do stay with it.
static bool hasHints(Operation *op) { return !op->getDiscardableAttrDictionary().empty(); }

Value Splitter::widened(Value tile, Type type) {
  if (tile.getType() == type)
    return tile;
  return arith::ExtSIOp::create(*builder, tile.getLoc(), type, tile);
}

Value Splitter::both(Operation *op, Value left, Value right) {
  if (!left || !right)
    return left ? left : right;
  if (!builder)
    return left;
  OpBuilder::InsertionGuard guard(*builder);
  builder->setInsertionPointAfter(op);
  const unsigned width = std::max(tt::elementOf(left.getType()).getIntOrFloatBitWidth(),
                                  tt::elementOf(right.getType()).getIntOrFloatBitWidth());
  const Type type = tt::withElement(left.getType(), builder->getIntegerType(width));
  return arith::AddIOp::create(*builder, op->getLoc(), widened(left, type), widened(right, type));
}

Value Splitter::moved(Operation *op, Value rest) {
  if (!rest || !builder || rest == op->getOperand(0))
    return rest ? op->getResult(0) : rest;
  OpBuilder::InsertionGuard guard(*builder);
  builder->setInsertionPointAfterValue(rest); // perhaps before the loop that `op` is in
  Operation *copy = op->clone();
  copy->setOperand(0, rest);
  copy->getResult(0).setType(tt::withElement(op->getResult(0).getType(), tt::elementOf(rest.getType())));
  return builder->insert(copy)->getResult(0);
}

/// The rest of a tile of integers.
Value Splitter::offsets(Value tile) {
  DenseIntElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)) && constant.isSplat()) {
    address.constant += constant.getSplatValue<APInt>().getSExtValue();
    return {};
  }
  if (Value scalar = uniformScalar(tile)) {
    address.scalars.push_back(scalar);
    return {};
  }
  Operation *op = tile.getDefiningOp();
  if (op && !hasHints(op)) {
    if (isa<arith::AddIOp>(op)) {
      Value left = offsets(op->getOperand(0)), right = offsets(op->getOperand(1));
      const bool isSame = left == op->getOperand(0) && right == op->getOperand(1);
      return isSame && builder ? tile : both(op, left, right);
    }
    if (isa<arith::ExtSIOp>(op) && tt::elementOf(op->getOperand(0).getType()).isInteger(32))
      return offsets(op->getOperand(0));
    if (movesElements(op) && isa<RankedTensorType>(op->getOperand(0).getType()))
      return moved(op, offsets(op->getOperand(0)));
  }
  address.leaves.push_back(tile);
  return tile;
}

std::optional<Value> Splitter::carriedBy(scf::ForOp loop, unsigned index) {
  const std::optional<tt::Movement> movement = tt::movementOf(loop, index);
  if (builder || !movement || !llvm::all_of(movement->steps, [](Value step) { return isUniform(step); }))
    return std::nullopt;
  llvm::append_range(address.steps, movement->steps);
  llvm::append_range(address.carried, movement->carried);
  return pointers(loop.getInitArgs()[index]);
}

std::optional<Value> Splitter::pointers(Value tile) {
  if (auto argument = dyn_cast<BlockArgument>(tile)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop ? carriedBy(loop, argument.getArgNumber() - 1) : std::nullopt;
  }
  Operation *op = tile.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return carriedBy(loop, cast<OpResult>(tile).getResultNumber());
  if (Value base = uniformScalar(tile)) {
    address.base = base;
    return Value();
  }
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    std::optional<Value> from = pointers(add.getPtr());
    return from ? std::optional(both(op, *from, offsets(add.getOffset()))) : std::nullopt;
  }
  if (!movesElements(op) || !isa<RankedTensorType>(op->getOperand(0).getType()))
    return std::nullopt;
  std::optional<Value> from = pointers(op->getOperand(0));
  return from ? std::optional(moved(op, *from)) : std::nullopt;
}

//--- bounds --------------------------------------------------------------------------------

namespace {
/// Decides which offsets are within 2 GiB.
class Bounds {
public:
  Bounds(const index::AxisInfoAnalysis &axes, bool trustsStorage) : axes(axes), trustsStorage(trustsStorage) {}

  bool hold(const Address &address, unsigned elementBytes);

private:
  bool isNonNegative(Value scalar) { return axes.rangeOf(scalar).low >= 0; }
  bool startsInStorage(Value pointer, llvm::SmallDenseSet<Value, 4> &seen);

  const index::AxisInfoAnalysis &axes;
  bool trustsStorage;
};
} // namespace

/// Whether the pointer is an argument with a storage below 2 GiB, or follows one.
bool Bounds::startsInStorage(Value pointer, llvm::SmallDenseSet<Value, 4> &seen) {
  if (!seen.insert(pointer).second)
    return true; // carried by a loop
  if (auto argument = dyn_cast<BlockArgument>(pointer)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto function = dyn_cast<tt::FuncOp>(parent)) {
      auto range = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tt.pointer_range");
      return range && range.getInt() == 32;
    }
    auto loop = dyn_cast<scf::ForOp>(parent);
    return loop && startsInStorage(loop.getTiedLoopInit(argument)->get(), seen) &&
           startsInStorage(loop.getTiedLoopYieldedValue(argument)->get(), seen);
  }
  Operation *op = pointer.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return startsInStorage(loop.getRegionIterArg(cast<OpResult>(pointer).getResultNumber()), seen);
  if (isa<arith::SelectOp>(op))
    return startsInStorage(op->getOperand(1), seen) && startsInStorage(op->getOperand(2), seen);
  auto add = dyn_cast<tt::AddPtrOp>(op);
  return add && isNonNegative(add.getOffset()) && startsInStorage(add.getPtr(), seen);
}

bool Bounds::hold(const Address &address, unsigned elementBytes) {
  constexpr int64_t largest = std::numeric_limits<int32_t>::max();
  int64_t low = 0, high = 0;
  for (Value leaf : address.leaves) {
    const index::IntegerRange range = axes.rangeOf(leaf);
    if (range.low < std::numeric_limits<int32_t>::min() || range.high > largest)
      return false; // an offset of 64 bits
    low += range.low, high += range.high;
  }
  if (low < 0)
    return false;
  if ((high + 1) * int64_t{elementBytes} <= largest)
    return true;
  llvm::SmallDenseSet<Value, 4> seen;
  const auto isNonNegativeScalar = [&](Value scalar) { return isNonNegative(scalar); };
  return trustsStorage && address.constant >= 0 && llvm::all_of(address.scalars, isNonNegativeScalar) &&
         llvm::all_of(address.steps, isNonNegativeScalar) && startsInStorage(address.base, seen);
}

//--- the pass ------------------------------------------------------------------------------

static unsigned elementBytesOf(const analysis::MemoryAccess &access) {
  return tt::storageBytes(cast<tt::PointerType>(tt::elementOf(access.pointer.getType())).getPointee());
}

/// The tile of pointers as a scalar pointer and an offset of 32 bits; null where nothing depends on the element.
static Value splitPointer(const analysis::MemoryAccess &access) {
  OpBuilder builder(access.op);
  Address address;
  const std::optional<Value> rest = Splitter(address, &builder).pointers(access.pointer);
  if (!rest || !*rest)
    return {};
  const Location loc = access.op->getLoc();
  Value base = address.base;
  if (address.constant)
    address.scalars.push_back(arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(address.constant)));
  for (Value scalar : address.scalars)
    base = tt::AddPtrOp::create(builder, loc, base.getType(), base, scalar);
  Value offset = *rest;
  const Type type = tt::withElement(offset.getType(), builder.getI32Type());
  const unsigned width = tt::elementOf(offset.getType()).getIntOrFloatBitWidth();
  if (width > 32)
    offset = arith::TruncIOp::create(builder, loc, type, offset);
  else if (width < 32)
    offset = arith::ExtSIOp::create(builder, loc, type, offset);
  Value tile = tt::SplatOp::create(builder, loc, access.pointer.getType(), base);
  return tt::AddPtrOp::create(builder, loc, tile.getType(), tile, offset);
}

namespace {
struct BoundOffsets : amd::impl::BoundOffsetsBase<BoundOffsets> {
  using Base::Base;

  void runOnOperation() final {
    tt::FuncOp function = getOperation();
    if (!function.isPublic() || function.isExternal())
      return;
    const SmallVector<Operation *> accesses = boundedAccesses(function);
    if (accesses.empty())
      return;
    tt::carryOffsets(carried.getArrayRef());
    const index::AxisInfoAnalysis before(function);
    SmallVector<std::pair<Operation *, Value>> replaced; // accesses and their former pointers
    for (Operation *op : accesses) {
      const analysis::MemoryAccess access = *analysis::memoryAccessOf(op);
      if (Value pointer = splitPointer(access)) {
        replaced.push_back({op, access.pointer});
        op->setOperand(0, pointer);
      }
    }
    const index::AxisInfoAnalysis after(function);
    for (auto [op, former] : replaced)
      keepVectors(op, former, before, after);
  }

private:
  SmallVector<Operation *> boundedAccesses(tt::FuncOp function) {
    const index::AxisInfoAnalysis axes(function);
    Bounds bounds(axes, trustsStorage);
    SmallVector<Operation *> accesses;
    function.walk([&](Operation *op) {
      const std::optional<analysis::MemoryAccess> access = analysis::memoryAccessOf(op);
      auto load = dyn_cast<tt::LoadOp>(op);
      if (!access || !access->tile() || (load && load.getIsVolatile()))
        return;
      Address address;
      const std::optional<Value> rest = Splitter(address).pointers(access->pointer);
      if (!rest || !*rest || !bounds.hold(address, elementBytesOf(*access)))
        return;
      accesses.push_back(op);
      carried.insert_range(address.carried);
    });
    return accesses;
  }

  /// An access whose vectors would become shorter keeps its pointer.
  void keepVectors(Operation *op, Value former, const index::AxisInfoAnalysis &before,
                   const index::AxisInfoAnalysis &after) {
    analysis::MemoryAccess access = *analysis::memoryAccessOf(op);
    const unsigned now = analysis::vectorElems(access, after);
    access.pointer = former;
    if (analysis::vectorElems(access, before) > now)
      return op->setOperand(0, former);
    op->setDiscardableAttr(ttg::kBoundedOffset, UnitAttr::get(op->getContext()));
    ++numBounded;
  }

  llvm::SmallSetVector<tt::CarriedTile, 8> carried;
};
} // namespace
