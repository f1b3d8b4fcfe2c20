// Loads operands of warp-group dots through tensor maps that the launcher makes from the kernel's arguments.
//
//   for { %x = tt.load %p + rows * %stride + columns, rows < %m; dot(%x) }
//     ->  for { %x = ttng.tile_load %map[row, column]; dot(%x) }   with a recipe of %map: %p, [%n, %m], [%stride]
//
// TileAddress.cpp reads the addresses; see docs/why/tensor-maps.md.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/PointerBases.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/tt/NeutralElement.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/passes/ttg/TrimLoop.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/passes/Diagnostics.h"
#include "compiler/target/nvidia/passes/Passes.h"
#include "compiler/target/nvidia/passes/maps/LauncherMaps.h"
#include "compiler/target/nvidia/passes/maps/TileAddress.h"
#include "compiler/target/nvidia/passes/maps/TileLimits.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace nereid::nvidia {
#define GEN_PASS_DEF_PROMOTELOADS
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

/// The extent of dimensions without a bound: TMA's limit is 2^32.
static constexpr int64_t kUnbounded = int64_t{1} << 31;
/// The rows of a warp group's dot.
static constexpr int64_t kWarpGroupRows = 64;
static constexpr unsigned kWarpsOfGroup = 4;
/// Bytes for barriers and padding.
static constexpr int64_t kSmallBuffers = 6144;

//--- which loads ---------------------------------------------------------------------------

/// Whether wgmma can compute the dot, from both operands in shared memory as they are.
static bool isWarpGroupDot(tt::DotOp dot) {
  auto type = dot.getType();
  auto elementOf = [](Value operand) { return cast<RankedTensorType>(operand.getType()).getElementType(); };
  return type.getRank() == 2 && type.getShape()[0] >= kWarpGroupRows &&
         ttng::hasWgmmaInstruction(elementOf(dot.getA()), elementOf(dot.getB()), type.getElementType(),
                                   dot.getInputPrecision());
}

/// Whether each use of the tile is an operand of a warp-group dot, transposed or not, and the instructions read its
/// rows along `fastest`.
static bool feedsDotsAlone(Value tile, unsigned fastest) {
  const unsigned bits = cast<RankedTensorType>(tile.getType()).getElementTypeBitWidth();
  return !tile.use_empty() && llvm::all_of(tile.getUses(), [&](OpOperand &use) {
    if (auto trans = dyn_cast<tt::TransOp>(use.getOwner()))
      return feedsDotsAlone(trans, 1 - fastest);
    auto dot = dyn_cast<tt::DotOp>(use.getOwner());
    const unsigned operand = use.getOperandNumber();
    return dot && operand < 2 && isWarpGroupDot(dot) && (ttng::readsEitherWay(bits) || fastest == 1 - operand);
  });
}

/// Whether a load reads an operand of dots. The fastest dimension is not known yet.
static bool isCandidate(tt::LoadOp load) {
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  return tile && tile.getRank() == 2 && tile.getElementType().isIntOrFloat() &&
         llvm::is_contained({8u, 16u}, tile.getElementTypeBitWidth()) &&
         (feedsDotsAlone(load, 0) || feedsDotsAlone(load, 1));
}

static int64_t bytesOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && tile.getElementType().isIntOrFloat() ? tt::tileBytes(tile) : 0;
}

static bool isInLoop(tt::LoadOp load) { return bool(load->getParentOfType<scf::ForOp>()); }

/// Why the load must stay as it is, whatever its addresses; null where it need not.
static const char *reasonOfKind(tt::LoadOp load, const std::optional<analysis::Bases> &written) {
  using Cache = tt::CacheModifier;
  if (load.getIsVolatile() || !llvm::is_contained({Cache::NONE, Cache::CA, Cache::CG}, load.getCache()))
    return "it asks for a cache behaviour of its own";
  if (load.getMask() && load.getOther() && !tt::isPositiveZero(load.getOther()))
    return "elements outside of the mask are not zero";
  if (!written || !analysis::staysUnwritten(load.getPtr(), *written))
    return "the kernel may write what it reads";
  return nullptr;
}

//--- the replacement -----------------------------------------------------------------------

namespace {
struct Promotion {
  tt::LoadOp load;
  TileAddress address;
};

class Promoter {
public:
  Promoter(tt::FuncOp kernel, unsigned numWarps, int64_t maxBytes)
      : kernel(kernel), numWarps(numWarps), maxBytes(maxBytes), builder(kernel.getContext()),
        axisInfo(kernel->getParentOfType<ModuleOp>()), tiles(axisInfo) {}

  bool collect();
  void run();
  unsigned size() const { return promotions.size(); }

private:
  bool add(tt::LoadOp load, const std::optional<analysis::Bases> &written);
  bool mayLoadAhead(tt::LoadOp load);
  Value addMap(Promotion &promotion, RankedTensorType block);
  void replace(Promotion &promotion);

  tt::FuncOp kernel;
  const unsigned numWarps;
  const int64_t maxBytes;
  OpBuilder builder;
  index::AxisInfoAnalysis axisInfo;
  KernelTiles tiles;
  std::vector<Promotion> promotions;
};
} // namespace

static RankedTensorType blockOf(const TileAddress &address, Type element) {
  SmallVector<int64_t> shape;
  for (const ArrayDim &dim : llvm::reverse(address.dims))
    shape.push_back(dim.box);
  return RankedTensorType::get(shape, element);
}

bool Promoter::add(tt::LoadOp load, const std::optional<analysis::Bases> &written) {
  std::string reason;
  if (const char *kind = reasonOfKind(load, written)) {
    reason = kind;
  } else if (auto address = tileAddressOf(load, tiles, reason)) {
    auto tile = cast<RankedTensorType>(load.getType());
    reason = reasonAgainstTma(blockOf(*address, tile.getElementType()));
    if (reason.empty() && !feedsDotsAlone(load, address->isTransposed ? 0 : 1))
      reason = "the dot's instructions read it along the other dimension";
    if (reason.empty())
      promotions.push_back({load, std::move(*address)});
  }
  if (!reason.empty())
    tt::report(load.getLoc(), nvidia::diag::LoadByThreads, reason);
  return reason.empty();
}

/// The most dots in an iteration of a loop.
static unsigned mostDots(tt::FuncOp kernel) {
  unsigned most = 0;
  kernel.walk([&](scf::ForOp loop) {
    auto dots = loop.getBody()->getOps<tt::DotOp>();
    most = std::max<unsigned>(most, std::distance(dots.begin(), dots.end()));
  });
  return most;
}

/// Why the warps that multiply should not start the copies themselves; empty where they may. The thread that starts
/// them keeps the other warps of its group waiting (H200): attention with four warps is 2 to 8 % slower through TMA, in
/// 24 cases of three shapes of blocks. With eight warps, others load for two dots, but not for more: the backward pass
/// of attention is 3 to 9 % slower, in 8 cases of two shapes.
static StringRef reasonForThreads(tt::FuncOp kernel, unsigned numWarps) {
  const unsigned dots = mostDots(kernel);
  if (numWarps == kWarpsOfGroup && dots > 1)
    return "its loop has several dots, for one warp group";
  return dots > 2 ? "its loop has more than two dots" : "";
}

/// Whether producer warps may load a tile for the next program while the others store: shared memory has room for two
/// buffers of each tile of the loops, the tiles that are loaded once, and a tile that is stored.
bool Promoter::mayLoadAhead(tt::LoadOp load) {
  if (numWarps != 2 * kWarpsOfGroup || load->getParentOp() != kernel)
    return false;
  int64_t once = bytesOf(load.getType()), ofLoops = 0, stored = 0;
  llvm::SmallDenseMap<Operation *, int64_t> ofLoop; // loops that follow each other use the same buffers
  for (Promotion &promotion : promotions) {
    const int64_t bytes = bytesOf(promotion.load.getType());
    if (isInLoop(promotion.load))
      ofLoops = std::max(ofLoops, ofLoop[promotion.load->getParentOp()] += 2 * bytes);
    else
      once += bytes;
  }
  kernel.walk([&](tt::StoreOp store) { stored = std::max(stored, bytesOf(store.getValue().getType())); });
  return once + ofLoops + stored + kSmallBuffers <= maxBytes;
}

bool Promoter::collect() {
  const std::optional<analysis::Bases> written = analysis::writtenBases(kernel);
  SmallVector<tt::LoadOp> candidates;
  kernel.walk([&](tt::LoadOp load) {
    if (isCandidate(load))
      candidates.push_back(load);
  });
  auto inLoops = llvm::make_filter_range(candidates, isInLoop);
  if (inLoops.empty() || countMapArguments(kernel) + candidates.size() > kMostMaps)
    return false;
  if (const StringRef reason = reasonForThreads(kernel, numWarps); !reason.empty()) {
    tt::report((*inLoops.begin()).getLoc(), nvidia::diag::LoadByThreads, reason);
    return false;
  }
  if (!llvm::all_of(inLoops, [&](tt::LoadOp load) { return add(load, written); }))
    return false;
  for (tt::LoadOp load : candidates)
    if (!isInLoop(load) && mayLoadAhead(load))
      (void)add(load, written);
  return true;
}

Value Promoter::addMap(Promotion &promotion, RankedTensorType block) {
  const TileAddress &address = promotion.address;
  MapRecipe recipe = {block, address.base, {}, {}};
  for (const ArrayDim &dim : address.dims)
    recipe.extents.push_back(dim.extent.value_or(launchConstant(kUnbounded)));
  for (const ArrayDim &dim : llvm::drop_begin(address.dims))
    recipe.strides.push_back(dim.stride);
  return addMapArgument(kernel, recipe, promotion.load.getLoc());
}

void Promoter::replace(Promotion &promotion) {
  tt::LoadOp load = promotion.load;
  const TileAddress &address = promotion.address;
  const Location loc = load.getLoc();
  auto tile = cast<RankedTensorType>(load.getType());
  const RankedTensorType block = blockOf(address, tile.getElementType());
  Value map = addMap(promotion, block);
  builder.setInsertionPoint(load);
  SmallVector<Value> indices;
  for (const ArrayDim &dim : llvm::reverse(address.dims))
    indices.push_back(tiles.materialise(builder, loc, dim.coordinate));
  const int64_t columns = block.getShape().back();
  auto rows = RankedTensorType::get({tile.getNumElements() / columns, columns}, tile.getElementType());
  Value loaded = ttng::TileLoadOp::create(builder, loc, rows, map, indices,
                                          builder.getDenseI64ArrayAttr(block.getShape()), load.getEvictAttr());
  if (address.isTransposed) {
    for (Operation *user : llvm::make_early_inc_range(load->getUsers()))
      if (isa<tt::TransOp>(user) && user->getResult(0).getType() == loaded.getType()) {
        user->replaceAllUsesWith(ValueRange(loaded));
        user->erase();
      }
    loaded = tt::TransOp::create(builder, loc, tile, loaded, builder.getDenseI32ArrayAttr({1, 0}));
  }
  load.replaceAllUsesWith(loaded);
  load.erase();
  addLaunchConditions(kernel, address.conditions);
}

void Promoter::run() {
  llvm::SetVector<Operation *> loops;
  for (Promotion &promotion : promotions) {
    if (auto loop = promotion.load->getParentOfType<scf::ForOp>())
      loops.insert(loop);
    replace(promotion);
  }
  // Pointers that loops carried for the loads.
  IRRewriter rewriter(kernel.getContext());
  for (Operation *loop : loops)
    ttg::trimLoop(cast<scf::ForOp>(loop), rewriter);
  (void)runRegionDCE(rewriter, kernel->getRegions());
}

namespace {
struct PromoteLoads : nvidia::impl::PromoteLoadsBase<PromoteLoads> {
  using PromoteLoadsBase::PromoteLoadsBase;

  void runOnOperation() final {
    if (numWarps % kWarpsOfGroup)
      return;
    for (auto function : llvm::to_vector(getOperation().getOps<tt::FuncOp>())) {
      if (!function.isPublic() || function.isExternal())
        continue;
      Promoter promoter(function, numWarps, maxBytes);
      if (!promoter.collect())
        continue;
      promoter.run();
      numPromoted += promoter.size();
    }
  }
};
} // namespace
