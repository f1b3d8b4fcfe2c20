// Chooses how many adjacent elements along K a lane holds of the operands of a warp's dot.
// SPDX-License-Identifier: MIT
//
// A dot may take the elements along K in any order, if both operands have the same one. Where an operand is computed
// from a tile of smaller elements (weights of 4 or 8 bits), lanes hold as many adjacent elements as a wide load of the
// small ones gives: the tile goes from memory to the instruction without an exchange between threads.
#include "compiler/target/nvidia/passes/dots/WidthAlongK.h"

#include "compiler/index/AxisInfo.h"
#include "compiler/layout/Mma.h"
#include "compiler/target/nvidia/dialect/MmaKind.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace nereid;

/// Four lanes of this many bytes are a sector of memory.
static constexpr unsigned kBytesOfLane = 8;
/// Ops between a load and a dot.
static constexpr unsigned kMaxSteps = 64;

namespace {
/// A loaded tile that an operand is computed from.
struct LoadedTile {
  tt::LoadOp load;
  unsigned dim = 0;        ///< along K
  unsigned perElement = 1; ///< elements of the operand along K that come from one loaded element
};
} // namespace

/// The tile before a join of two halves along K: reshape(join(x, y)) has twice the elements of x along the last dim.
static std::optional<LoadedTile> throughReshape(tt::ReshapeOp reshape, LoadedTile from) {
  ArrayRef<int64_t> to = tt::shapeOf(reshape.getType()), before = tt::shapeOf(reshape.getSrc().getType());
  if (!reshape.getSrc().getDefiningOp<tt::JoinOp>() || from.dim + 1 != to.size() || before.size() != to.size() + 1 ||
      before.take_front(from.dim) != to.take_front(from.dim))
    return std::nullopt;
  from.perElement *= 2;
  return from;
}

/// The loads of the tiles with an element for each of the operand's along `dim`; scales that are broadcast are none.
static SmallVector<LoadedTile> loadedTiles(Value operand, unsigned dim) {
  SmallVector<LoadedTile> tiles;
  SmallVector<std::pair<Value, LoadedTile>> todo = {{operand, {{}, dim, 1}}};
  for (unsigned step = 0; step < kMaxSteps && !todo.empty(); ++step) {
    auto [value, tile] = todo.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op)
      continue;
    if (auto load = dyn_cast<tt::LoadOp>(op)) {
      tile.load = load;
      tiles.push_back(tile);
    } else if (auto reshape = dyn_cast<tt::ReshapeOp>(op)) {
      if (auto before = throughReshape(reshape, tile))
        todo.push_back({reshape.getSrc(), *before});
    } else if (isa<tt::JoinOp, tt::TransOp>(op) || (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1)) {
      for (auto [index, from] : llvm::enumerate(op->getOperands())) {
        if (!isa<RankedTensorType>(from.getType()))
          continue;
        const tt::ElementMap map = *tt::elementMapOf(op, index);
        const auto *along = llvm::find_if(map, [&](tt::ElementIndex of) { return of.isDim(tile.dim); });
        todo.push_back({from, {{}, unsigned(along - map.begin()), tile.perElement}});
      }
    }
  }
  return tiles;
}

/// The width that a load of one operand suggests; 1 where it suggests none.
static unsigned widthOf(LoadedTile tile, unsigned operandBits, index::AxisInfoAnalysis &axes) {
  const unsigned bits = tt::elementOf(tile.load.getType()).getIntOrFloatBitWidth();
  if (bits < 8 || bits >= operandBits * tile.perElement)
    return 1;
  const int64_t inRow = axes.of(tile.load.getPtr()).contiguity(tile.dim);
  return std::min<int64_t>(inRow, kBytesOfLane * 8 / bits) * tile.perElement;
}

unsigned nvidia::widthAlongK(tt::DotOp dot) {
  const unsigned native = ttng::runAlongK(*ttng::mmaKindOf(dot)), rank = tt::shapeOf(dot.getType()).size();
  unsigned width = native;
  std::optional<index::AxisInfoAnalysis> axes;
  for (auto [operand, dim] : {std::pair(dot.getA(), rank - 1), std::pair(dot.getB(), rank - 2)}) {
    const unsigned bits = tt::elementOf(operand.getType()).getIntOrFloatBitWidth();
    for (LoadedTile tile : loadedTiles(operand, dim)) {
      if (tile.load.getResult() == operand)
        continue;
      if (!axes)
        axes.emplace(dot->getParentOfType<ModuleOp>());
      width = std::max(width, widthOf(tile, bits, *axes));
    }
  }
  const int64_t depth = tt::shapeOf(dot.getA().getType())[rank - 1];
  while (width > native && int64_t{width} * layout::kMmaLanesAlongK > depth)
    width /= 2;
  return std::max(width, native);
}
