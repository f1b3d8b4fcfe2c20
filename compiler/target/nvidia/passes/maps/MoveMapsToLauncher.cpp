// Lets the launcher make the tensor maps that depend on a kernel's arguments alone.
//
//   %m = ttng.make_tensor_map %p, [%rows, %columns], [%pitch, %one]   ->   an argument of the kernel with a recipe
//
// See docs/why/tensor-maps.md.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/PointerBases.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/passes/Passes.h"
#include "compiler/target/nvidia/passes/maps/KernelTiles.h"
#include "compiler/target/nvidia/passes/maps/LauncherMaps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

namespace nereid::nvidia {
#define GEN_PASS_DEF_MOVEMAPSTOLAUNCHER
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using artifact::LaunchOp;

namespace {
class MapMover {
public:
  explicit MapMover(tt::FuncOp kernel)
      : kernel(kernel), written(analysis::writtenBases(kernel)), axisInfo(kernel->getParentOfType<ModuleOp>()),
        tiles(axisInfo) {}

  bool move(ttng::MakeTensorMapOp make);

private:
  bool isOff(Value flag);
  bool readRecipe(ttng::MakeTensorMapOp make);
  bool mayUse(ttng::MakeTensorMapOp make, Operation *user);
  bool mayStore(ttng::MakeTensorMapOp make, ttng::TileStoreOp store);

  tt::FuncOp kernel;
  const std::optional<analysis::Bases> written;
  index::AxisInfoAnalysis axisInfo;
  KernelTiles tiles;
  MapRecipe recipe;
  SmallVector<LaunchCode> conditions;
};
} // namespace

/// Whether the flag is false, or an argument, which then must be.
bool MapMover::isOff(Value flag) {
  if (matchPattern(flag, m_Zero()))
    return true;
  BlockArgument argument = analysis::functionArgument(flag);
  if (!argument)
    return false;
  const LaunchCode value = {LaunchOp::Argument, argument.getArgNumber()};
  conditions.push_back(mustNotBePositive(combine(LaunchOp::Mul, value, value)));
  return true;
}

bool MapMover::readRecipe(ttng::MakeTensorMapOp make) {
  const int64_t bytes = tt::storageBytes(make.getBase().getType().getPointee());
  recipe = {make.blockType(), {}, {}, {}};
  if (!analysis::functionArgument(make.getBase()))
    return false;
  recipe.base = *launchCodeOf(make.getBase());
  for (Value extent : llvm::reverse(make.getShape())) {
    auto code = launchCodeOf(extent);
    if (!code)
      return false;
    recipe.extents.push_back(std::move(*code));
  }
  for (Value stride : llvm::reverse(make.getStrides().drop_back())) {
    auto code = launchCodeOf(stride);
    if (!code)
      return false;
    recipe.strides.push_back(combine(LaunchOp::Mul, std::move(*code), launchConstant(bytes)));
  }
  return isOff(make.getPadsWithNan()) && isOff(make.getRoundsToTf32());
}

/// Threads store what TMA cannot, from what a map made in the kernel has behind it: boxes that begin before the array,
/// and rows that do not end at a multiple of 16 bytes. No other access may need to be ordered with the store by its
/// base.
bool MapMover::mayStore(ttng::MakeTensorMapOp make, ttng::TileStoreOp store) {
  if (store.getKind() || !make.getBase().hasOneUse())
    return false;
  for (Value index : store.getIndices()) {
    const index::AffineForm *form = tiles.of(index);
    if (!form || form->base || !tiles.isNonNegative(form->start))
      return false;
    tiles.addConditionsOf(form->start);
  }
  const int64_t bytes = tt::storageBytes(recipe.block.getElementType());
  LaunchCode rowBytes = combine(LaunchOp::Mul, recipe.extents.front(), launchConstant(bytes));
  conditions.push_back(
      mustNotBePositive(combine(LaunchOp::Rem, std::move(rowBytes), launchConstant(ttng::kTensorMapAlignBytes))));
  return true;
}

bool MapMover::mayUse(ttng::MakeTensorMapOp make, Operation *user) {
  if (isa<ttng::AsyncTmaCopyGlobalToLocalOp, ttng::AsyncTmaCopyLocalToGlobalOp>(user))
    return make.getLayout().has_value(); // the kernel orders such accesses itself
  if (auto store = dyn_cast<ttng::TileStoreOp>(user))
    return mayStore(make, store);
  return isa<ttng::TileLoadOp>(user) && written && analysis::staysUnwritten(make.getBase(), *written);
}

bool MapMover::move(ttng::MakeTensorMapOp make) {
  conditions.clear();
  tiles.takeConditions();
  if (make->getParentOp() != kernel || countMapArguments(kernel) == kMostMaps || !readRecipe(make) ||
      !llvm::all_of(make->getUsers(), [&](Operation *user) { return mayUse(make, user); }))
    return false;
  llvm::append_range(conditions, tiles.takeConditions());
  make.replaceAllUsesWith(addMapArgument(kernel, recipe, make.getLoc()));
  make.erase();
  addLaunchConditions(kernel, conditions);
  return true;
}

namespace {
struct MoveMapsToLauncher : nvidia::impl::MoveMapsToLauncherBase<MoveMapsToLauncher> {
  using MoveMapsToLauncherBase::MoveMapsToLauncherBase;

  void runOnOperation() final {
    for (auto function : llvm::to_vector(getOperation().getOps<tt::FuncOp>())) {
      SmallVector<ttng::MakeTensorMapOp> maps;
      function.walk([&](ttng::MakeTensorMapOp make) { maps.push_back(make); });
      if (maps.empty() || !function.isPublic())
        continue;
      MapMover mover(function);
      for (ttng::MakeTensorMapOp make : maps)
        numMoved += mover.move(make);
    }
  }
};
} // namespace
